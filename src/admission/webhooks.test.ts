// The webhooks as a part of a running manager: not ready without a certificate, ready with one, failed when none
// arrives; and their metrics. No request needs the API server here.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger, systemClock } from "@firebolt-operator/kube";
import { createKubeClient } from "@firebolt-operator/kube/client";
import { createManager } from "@firebolt-operator/kube/controller";
import { createProbes } from "@firebolt-operator/kube/serving";
import { createAuthority } from "@firebolt-operator/kube/testing";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { post, serverPair } from "../../test/admission/support/loopback.ts";
import { hookOf, parseResponse, review } from "../../test/admission/support/review-fixtures.ts";
import { engineClass } from "../../test/harness/fixtures/manifests.ts";
import { createProductMetrics } from "../metrics/product-metrics.ts";
import { createWebhooks } from "./webhooks.ts";

const authority = createAuthority("hooks");
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "webhooks-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function build(startTimeoutMs = 60_000) {
  const client = createKubeClient({
    config: { origin: "nowhere", server: "https://127.0.0.1:1", authentication: { type: "none" } },
  });
  const registry = new Registry();
  const webhooks = createWebhooks({
    host: "127.0.0.1",
    port: 0,
    http2: false,
    certificate: { type: "files", folder, certificateName: "tls.crt", keyName: "tls.key", startTimeoutMs },
    bounds: {},
    client,
    clock: systemClock,
    logger: silentLogger,
    registry,
    certificateObserver: createProductMetrics(registry, {
      clock: systemClock,
      build: { version: "1", revision: "r", nodeVersion: "v24" },
    }).certificates.webhook,
  });
  const probes = createProbes({ clock: systemClock, logger: silentLogger, host: "127.0.0.1", port: 0 });
  const manager = createManager({ logger: silentLogger, clock: systemClock, probes });
  manager.add(webhooks);
  const readyz = () => probes.respond(new URL("http://x/readyz")).status;
  return { webhooks, manager, readyz, registry };
}

test("ready as soon as there is a certificate, and requests are recorded", async () => {
  const { webhooks, manager, readyz, registry } = build();
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await new Promise((resolve) => setImmediate(resolve));
  expect(readyz()).toBe(503);
  const { certificate, key } = serverPair(authority);
  writeFileSync(join(folder, "tls.crt"), certificate);
  writeFileSync(join(folder, "tls.key"), key);
  await webhooks.whenReady?.(stop.signal);
  await new Promise((resolve) => setImmediate(resolve));
  expect(readyz()).toBe(200);

  const { path } = hookOf("validate-engine-class");
  const body = JSON.stringify(review("validate-engine-class", { object: engineClass({ name: "c" }) }));
  const answer = await post({ path, body }, webhooks.port ?? 0, authority.certificate);
  expect(parseResponse(answer.body).allowed).toBe(true);
  await post({ path, body: "nonsense" }, webhooks.port ?? 0, authority.certificate);
  const text = await registry.metrics();
  expect(text).toContain(`controller_runtime_webhook_requests_total{webhook="${path}",code="200"} 1`);
  expect(text).toContain(`controller_runtime_webhook_requests_total{webhook="${path}",code="400"} 1`);
  expect(text).toContain(`controller_runtime_webhook_requests_in_flight{webhook="${path}"} 0`);
  expect(text).toContain(`controller_runtime_webhook_latency_seconds_count{webhook="${path}"} 2`);
  expect(text).toMatch(/certwatcher_read_certificate_total [1-9]/);
  expect(text).toMatch(/certwatcher_read_certificate_errors_total [1-9]/);
  expect(text).toMatch(/firebolt_operator_webhook_certificate_expiry_timestamp 1\d{9}/);
  stop.abort();
  expect(readyz()).toBe(503);
  await running;
});

test("without a certificate in time the manager fails with the reason", async () => {
  const { manager } = build(50);
  await expect(manager.run(new AbortController().signal)).rejects.toThrow(/no usable certificate in .*: .*ENOENT/);
});
