// Certificates that the replicas create themselves, with the real API server as the caller that must trust them:
// concurrent starts, rotation under load without a failed request, and restoration after another client deletes them.
import { X509Certificate } from "node:crypto";
import { type Api, openApiFromKubeconfig, valueAt } from "@firebolt-operator/kube/testing";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { createNamespace, eventually } from "../harness/control-plane/requests.ts";
import { manifest, SMALLEST } from "../harness/fixtures/manifests.ts";
import { ShiftedClock } from "./support/certificate-clock.ts";
import { startBalancer } from "./support/load-balancer.ts";
import { type Replica, SECRET, startReplica } from "./support/replica.ts";
import { register, unregister, waitUntilActive } from "./support/webhook-harness.ts";

const HOUR = 3_600_000;
const YEAR = 365 * 24 * HOUR;
const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1";

let api: Api;
let namespace: string;
beforeEach(async () => {
  api = openApiFromKubeconfig(inject("adminKubeconfig"));
  namespace = await createNamespace("hook-certs");
});
afterEach(async () => {
  await unregister(api, namespace);
  api.close();
});

const secretPath = () => `/api/v1/namespaces/${namespace}/secrets/${SECRET}`;

async function stored(): Promise<Readonly<Record<string, string>>> {
  const data = valueAt((await api.expect({ path: secretPath() })).body, ["data"]);
  const entries = Object.entries(data as Record<string, string>);
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
}

async function bundles(): Promise<string[]> {
  const all = await Promise.all(
    ["mutating", "validating"].map(async (type) => {
      const { body } = await api.expect({ path: `${CONFIGURATIONS}/${type}webhookconfigurations/${namespace}` });
      return (valueAt(body, ["webhooks"]) as { clientConfig: { caBundle?: string } }[]).map(({ clientConfig }) =>
        Buffer.from(clientConfig.caBundle ?? "", "base64").toString(),
      );
    }),
  );
  return all.flat();
}

const count = (bundle: string): number => bundle.split("BEGIN CERTIFICATE").length - 1;

describe("several replicas", () => {
  test("started at once, they agree on one root and one leaf, and the API server trusts them", async () => {
    await register(api, { namespace, base: "https://127.0.0.1:1" });
    const replicas = await Promise.all(Array.from({ length: 5 }, () => startReplica(namespace)));
    await using stack = new AsyncDisposableStack();
    for (const replica of replicas) stack.use(replica);
    const { "ca.crt": root = "", "tls.crt": leaf = "" } = await stored();
    const fingerprint = new X509Certificate(leaf).fingerprint256;
    await eventually(() => {
      expect(replicas.map(({ certificate }) => certificate.current?.fingerprint)).toEqual(Array(5).fill(fingerprint));
    });
    await eventually(async () => expect(await bundles()).toEqual(Array(4).fill(root)));
    expect(new X509Certificate(leaf).verify(new X509Certificate(root).publicKey)).toBe(true);
    const tenYears = new X509Certificate(root).validToDate.getTime() - Date.now();
    expect(Math.round(tenYears / YEAR)).toBe(10);

    // One after the other serves the API server.
    const { port } = stack.use(await startBalancer(replicas.map((replica) => replica.port)));
    await unregister(api, namespace);
    await register(api, { namespace, base: `https://127.0.0.1:${port}`, caBundle: root });
    await waitUntilActive(api, namespace);
  });

  test("a CA bundle that another client resets is written again; the rest of the configuration is not changed", async () => {
    await register(api, { namespace, base: "https://127.0.0.1:1" });
    const path = `${CONFIGURATIONS}/validatingwebhookconfigurations/${namespace}`;
    const without = async () => {
      const { body } = await api.expect({ path });
      const {
        generation: _g,
        resourceVersion: _r,
        managedFields: _m,
        ...metadata
      } = valueAt(body, ["metadata"]) as Record<string, unknown>;
      const webhooks = (valueAt(body, ["webhooks"]) as { clientConfig: object }[]).map((webhook) => ({
        ...webhook,
        clientConfig: { ...webhook.clientConfig, caBundle: undefined },
      }));
      return { metadata, webhooks };
    };
    const before = await without();
    await using _replica = await startReplica(namespace);
    await eventually(async () => expect((await bundles()).map(count)).toEqual([1, 1, 1, 1]));
    const reset = [{ op: "replace", path: "/webhooks/1/clientConfig/caBundle", value: "" }];
    await api.expect({ method: "PATCH", path, body: reset, contentType: "application/json-patch+json" });
    await eventually(async () => expect((await bundles()).map(count)).toEqual([1, 1, 1, 1]));
    expect(await without()).toEqual(before);
  });

  test("a deleted Secret is made again, and both replicas and the API server follow", async () => {
    await register(api, { namespace, base: "https://127.0.0.1:1" });
    await using first = await startReplica(namespace);
    await using second = await startReplica(namespace);
    const before = first.certificate.current?.fingerprint;
    await api.expect({ method: "DELETE", path: secretPath() });
    await eventually(async () => {
      const { "ca.crt": root = "", "tls.crt": leaf = "" } = await stored();
      const { fingerprint256 } = new X509Certificate(leaf);
      expect(fingerprint256).not.toBe(before);
      expect([first, second].map(({ certificate }) => certificate.current?.fingerprint)).toEqual([
        fingerprint256,
        fingerprint256,
      ]);
      expect(await bundles()).toEqual(Array(4).fill(root));
    });
  });

  test("entries that others keep in the Secret stay", async () => {
    const body = { metadata: { name: SECRET, namespace, labels: { a: "b" } }, data: { mine: "bWluZQ==" } };
    await api.expect({ method: "POST", path: `/api/v1/namespaces/${namespace}/secrets`, body });
    await using _replica = await startReplica(namespace);
    expect(await stored()).toMatchObject({ mine: "mine", "tls.crt": expect.stringContaining("BEGIN") });
    expect((await api.expect({ path: secretPath() })).body).toMatchObject({ metadata: { labels: { a: "b" } } });
  });
});

describe("rotation", () => {
  interface Flow {
    readonly asked: () => number;
    readonly failures: readonly string[];
    /** Resolves after this many more responses. */
    more(requests: number): Promise<void>;
    stop(): Promise<void>;
  }

  /** Alternates valid and invalid manifests; every unexpected response is a failure. */
  function startFlow(): Flow {
    const failures: string[] = [];
    const stopping = new AbortController();
    let asked = 0;
    const path = `/apis/compute.firebolt.io/v1alpha1/namespaces/${namespace}`;
    const refused = { ...SMALLEST.FireboltEngine, template: { spec: { hostIPC: true } } };
    const questions = [
      { plural: "fireboltengines", kind: "FireboltEngine", spec: SMALLEST.FireboltEngine, want: 201 },
      { plural: "fireboltengines", kind: "FireboltEngine", spec: refused, want: 403 },
      { plural: "fireboltinstances", kind: "FireboltInstance", spec: SMALLEST.FireboltInstance, want: 201 },
    ] as const;
    const ask = async ({ plural, kind, spec, want }: (typeof questions)[number]): Promise<void> => {
      const body = manifest(kind, { name: `r${asked}`, namespace }, spec);
      const answer = await api.send({ method: "POST", path: `${path}/${plural}?dryRun=All`, body });
      asked += 1;
      if (answer.status !== want) failures.push(`${answer.status}: ${String(valueAt(answer.body, ["message"]))}`);
      // The mutating webhook may be ignored when it fails: its work shows that it did not.
      if (kind === "FireboltInstance" && typeof valueAt(answer.body, ["spec", "id"]) !== "string")
        failures.push("no id");
    };
    const worker = async (): Promise<void> => {
      while (!stopping.signal.aborted) for (const question of questions) await ask(question);
    };
    const workers = Promise.all(Array.from({ length: 8 }, worker));
    return {
      asked: () => asked,
      failures,
      async more(requests) {
        const until = asked + requests;
        await eventually(() => asked >= until, { describe: `${requests} more requests` });
      },
      async stop() {
        stopping.abort();
        await workers;
      },
    };
  }

  test("of root and leaf, with two replicas under load: no request fails", async () => {
    // Six years ago, seen from the root; the present, seen from the API server.
    const clock = new ShiftedClock(-6.1 * YEAR);
    await using stack = new AsyncDisposableStack();
    const first = stack.use(await startReplica(namespace, clock));
    const second = stack.use(await startReplica(namespace, clock));
    const before = await stored();
    const balancer = stack.use(await startBalancer([first.port, second.port]));
    await register(api, { namespace, base: `https://127.0.0.1:${balancer.port}` });

    clock.shiftTo(-3 * HOUR);
    // The leaf is overdue and the root is due: a new leaf, and a next root that is trusted and not used yet.
    await eventually(async () => {
      const now = await stored();
      expect(now["ca.crt"]).toBe(before["ca.crt"]);
      expect(now["tls.crt"]).not.toBe(before["tls.crt"]);
      expect((await bundles()).map((bundle) => bundle === `${now["ca.crt"]}${now["next-ca.crt"]}`)).toEqual(
        Array(4).fill(true),
      );
      expectShown([first, second], now["tls.crt"]);
    });
    await waitUntilActive(api, namespace);
    const announced = await stored();

    const flow = startFlow();
    await flow.more(100);
    clock.shiftTo(-2 * HOUR + 60_000);
    await eventually(async () => {
      const now = await stored();
      expect(now["ca.crt"]).toBe(announced["next-ca.crt"]);
      expect(now["previous-ca.crt"]).toBe(before["ca.crt"]);
      expectShown([first, second], now["tls.crt"]);
    });
    await flow.more(100);
    clock.shiftTo(-HOUR + 120_000);
    await eventually(async () => {
      const now = await stored();
      expect(now["previous-ca.crt"]).toBeUndefined();
      expect(await bundles()).toEqual(Array(4).fill(now["ca.crt"]));
    });
    await flow.more(100);
    // Somebody deletes the leaf: another is made under the same root.
    const settled = await stored();
    const patch = { data: { "tls.crt": "", "tls.key": "" } };
    await api.expect({ method: "PATCH", path: secretPath(), body: patch, contentType: "application/merge-patch+json" });
    await eventually(async () => {
      const now = await stored();
      expect(now["ca.crt"]).toBe(settled["ca.crt"]);
      expectShown([first, second], now["tls.crt"]);
    });
    await flow.more(100);
    await flow.stop();
    expect(flow.failures).toEqual([]);
    expect(first.shown.length).toBeGreaterThanOrEqual(4);
    console.info(
      `rotation: ${flow.asked()} requests, ${flow.failures.length} failed, ${first.shown.length} leaves shown`,
    );
  });
});

function expectShown(replicas: readonly Replica[], leaf = ""): void {
  const { fingerprint256 } = new X509Certificate(leaf);
  expect(replicas.map(({ certificate }) => certificate.current?.fingerprint)).toEqual(
    replicas.map(() => fingerprint256),
  );
}
