// From flags to the options of the operator: what is disabled is absent, and a missing namespace is a usage error.
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { parseFlags, UsageError } from "../flags/flag-table.ts";
import { MANAGER_FLAGS } from "../flags/manager-flags.ts";
import { operatorOptionsOf, type Surroundings } from "./operator-options.ts";

const config = { server: "https://127.0.0.1:6443", origin: "test", namespace: "system" } as Surroundings["config"];
const { namespace: _, ...nowhere } = config;

function optionsOf(args: readonly string[], surroundings: Partial<Surroundings> = {}) {
  const around = { config, registry: undefined, inCluster: false, ...surroundings };
  return operatorOptionsOf(parseFlags(MANAGER_FLAGS, args), around);
}

test("without flags there is no lease, no metrics server, and webhooks only with a certificate", () => {
  const options = optionsOf([]);
  expect(options).toMatchObject({
    namespaces: [],
    probes: { port: 8081 },
    concurrency: { engine: 8, instance: 2, engineclass: 2 },
    drainSettleMs: 35_000,
    webhooks: { port: 9443, optional: true, certificate: { type: "files" } },
  });
  expect(Object.keys(options)).not.toContain("election");
  expect(Object.keys(options)).not.toContain("metrics");
});

test("in a cluster the certificate of the webhooks is required", () => {
  expect(optionsOf([], { inCluster: true }).webhooks?.optional).toBe(false);
  expect(optionsOf(["--enable-webhooks=false"]).webhooks).toBeUndefined();
});

test("probes and metrics as the flags say", () => {
  const registry = new Registry();
  const address = "--metrics-bind-address=127.0.0.1:8443";
  expect(optionsOf(["--health-probe-bind-address=0"]).probes).toBeUndefined();
  expect(optionsOf([address], { registry }).metrics).toEqual({
    registry,
    listen: { host: "127.0.0.1", port: 8443 },
    secure: { http2: false },
  });
  expect(optionsOf([address, "--metrics-secure=false"], { registry }).metrics?.secure).toBeUndefined();
  expect(optionsOf([address, "--metrics-cert-path=/certs"], { registry }).metrics?.secure?.certificate).toEqual({
    folder: "/certs",
    certificateName: "tls.crt",
    keyName: "tls.key",
  });
});

test("the lease is in the operator's own namespace, by flag or by configuration", () => {
  expect(optionsOf(["--leader-elect"]).election).toMatchObject({ namespace: "system", name: "c662f7f5.firebolt.io" });
  expect(optionsOf(["--leader-elect", "--leader-election-namespace=other"]).election?.namespace).toBe("other");
  expect(() => optionsOf(["--leader-elect"], { config: nowhere })).toThrow(UsageError);
});

test("a self-managed certificate needs its Secret, its Service and a namespace", () => {
  const flags = ["--webhook-cert-mode=self-managed", "--webhook-cert-secret=cert", "--webhook-service=hooks"];
  expect(optionsOf(flags)).toMatchObject({
    webhooks: { certificate: { type: "self-managed", secret: { namespace: "system", name: "cert" } } },
    identity: { namespace: "system", secrets: ["cert"] },
  });
  expect(() => optionsOf(flags.slice(0, 2))).toThrow(/--webhook-service/);
  expect(() => optionsOf(flags, { config: nowhere })).toThrow(/--leader-election-namespace/);
});
