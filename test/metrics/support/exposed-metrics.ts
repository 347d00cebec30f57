// Pages as a scraper sees them, of everything that the alerts and dashboards of the chart are about.
import { setTimeout as sleep } from "node:timers/promises";
import { openApiFromKubeconfig } from "@firebolt-operator/kube/testing";
import { Registry } from "prom-client";
import { expect } from "vitest";
import { HOOKS } from "../../../src/admission/registration/hooks.ts";
import { createAdmissionMetrics } from "../../../src/admission/server/admission-metrics.ts";
import { createCertificateMetrics, createDemandMetrics } from "../../../src/metrics/process-series.ts";
import { renderDemand } from "../../../src/wake-agent/demand.ts";
import { renderDiscovery } from "../../../src/wake-agent/discovery/render-discovery.ts";
import { register, unregister } from "../../admission/support/webhook-harness.ts";
import { startBriefPod } from "../../gateway/support/brief-pods.ts";
import { openDiscoveryHarness } from "../../gateway/support/discovery-harness.ts";
import { openGatewayHarness } from "../../gateway/support/gateway-harness.ts";
import { createNamespace, eventually } from "../../harness/control-plane/requests.ts";
import { engine } from "../../harness/fixtures/manifests.ts";
import type { MetricsOperator } from "./operator-harness.ts";
import { parsePage, scrape } from "./scrape.ts";

/** What the rule about the event loop selects. */
const LONGEST_LAG_SECONDS = 0.5;

/**
 * The page of an operator with an engine that sleeps, of a second in which its event loop was on time. How late the loop was is
 * counted from one scrape to the next, and everything in this process counts, so what the test itself did before is thrown away.
 */
export async function healthyPage(operator: MetricsOperator, sleeping: string): Promise<string> {
  await operator.page();
  return eventually(async () => {
    for (let turn = 0; turn < 50; turn++) await sleep(20);
    const page = await operator.page();
    const series = parsePage(page);
    const lag = series.find(({ name }) => name === "nodejs_eventloop_lag_p99_seconds");
    expect(Number(lag?.value)).toBeLessThan(LONGEST_LAG_SECONDS);
    const phase = series.find(
      ({ name, labels }) =>
        name === "firebolt_engine_status_phase" && labels["name"] === sleeping && labels["phase"] === "stopped",
    );
    expect(phase?.value).toBe("1");
    return page;
  });
}

/** What appears only after a rollout was abandoned, a probe failed, a certificate was loaded, or webhooks are on. */
export async function neverOnThatPage(): Promise<string> {
  const webhooks = new Registry();
  const paths = HOOKS.map(({ path }) => path);
  const admission = createAdmissionMetrics(webhooks, paths);
  for (const path of paths) {
    admission.started(path);
    admission.finished(path, 200, 1);
  }
  const others = new Registry();
  createCertificateMetrics(others).webhook.loaded?.({ certificate: "", key: "", fingerprint: "", expiresMs: 1 });
  createDemandMetrics(others).scrapeFailed("ns");
  const orphans = 'firebolt_engine_orphan_deletes_total{namespace="ns",name="e",instance="i",kind="Service"} 1\n';
  return `${await webhooks.metrics()}${await others.metrics()}${orphans}`;
}

export async function envoyAndEnginePages(): Promise<string> {
  await using harness = await openGatewayHarness();
  const standIn = await harness.startEngine({ engine: "e" });
  harness.publish("e", [standIn]);
  const query = { method: "POST", body: "select 1", signal: AbortSignal.timeout(60_000) };
  expect((await fetch(`http://127.0.0.1:${harness.clientPort}/?engine=e`, query)).status).toBe(200);
  const stats = `http://127.0.0.1:${harness.metricsPort}/stats/prometheus`;
  const answered = /envoy_http_downstream_rq_time_count\{envoy_http_conn_manager_prefix="gateway"\} [1-9]/;
  // Envoy merges its histograms every five seconds.
  const envoy = await eventually(async () => {
    const { text } = await scrape(stats);
    expect(text).toMatch(answered);
    return text;
  });
  return `${envoy}\n${await (await standIn.get(9090, "/metrics")).text()}`;
}

/** Of an Envoy that has an engine as a cluster of its own. */
export async function discoveringEnvoyPage(): Promise<string> {
  await using harness = await openDiscoveryHarness();
  const pod = await startBriefPod("e-g0-0", harness.nextAddress());
  try {
    harness.publish("e", [pod]);
    await eventually(async () => expect(harness.discovery().connected).toBe(true));
    await harness.client.query({ engine: "e" });
    return (await scrape(`http://127.0.0.1:${harness.metricsPort}/stats/prometheus`)).text;
  } finally {
    await pod.end();
  }
}

export function agentPage(): string {
  const demand = renderDemand({
    rows: [{ engine: "e", stampMs: 1, holds: 1, shed: 1 }],
    dropped: 0,
    apiErrors: { write: 0, watch: 0 },
  });
  const discovery = renderDiscovery({
    discovery: {
      connected: true,
      engines: ["e"],
      rejections: 0,
      generations: () => new Map([[0, 1]]),
      isAccepted: () => false,
    },
    view: { complete: true, isWatchBroken: false, engineNames: ["e"] },
    gateway: { queriesByName: 0, withoutNamesMs: 60_000 },
  });
  return `${demand}${discovery}`;
}

/** The API server's own page, after a call of a webhook of ours that nothing serves. */
export async function apiServerPage(kubeconfig: string): Promise<string> {
  const namespace = await createNamespace("unreachable", kubeconfig);
  const api = openApiFromKubeconfig(kubeconfig);
  try {
    await register(api, { namespace, base: "https://127.0.0.1:1" });
    const path = `/apis/compute.firebolt.io/v1alpha1/namespaces/${namespace}/fireboltengines?dryRun=All`;
    const body = engine({ name: "refused", namespace });
    await eventually(async () => expect(await api.send({ method: "POST", path, body })).toMatchObject({ status: 500 }));
    await unregister(api, namespace);
    return String((await api.expect({ path: "/metrics", as: "text" })).body);
  } finally {
    api.close();
  }
}
