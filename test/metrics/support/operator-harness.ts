// The whole operator in this process with every recorder and the metrics server, for tests of what the endpoint
// exposes.
import { silentLogger } from "@firebolt-operator/kube";
import { collectDefaultMetrics, Registry } from "prom-client";
import { OPERATOR_DEFAULTS } from "../../../src/api/operator-defaults.ts";
import { createOperator } from "../../../src/operator/create-operator.ts";
import { clusterConfig } from "../../harness/control-plane/test-client.ts";
import { TEST_BUILD } from "../../harness/operator/test-build.ts";
import { parsePage, type Series, scrape } from "./scrape.ts";

export interface MetricsOperator extends AsyncDisposable {
  /** The response body of the endpoint. */
  page(): Promise<string>;
  /** The samples in it, or those whose labels include all of these. */
  series(labels?: Readonly<Record<string, string>>): Promise<readonly Series[]>;
}

export interface MetricsOperatorOptions {
  readonly kubeconfig: string;
  readonly namespace: string;
  /** Narrows the three kinds. */
  readonly selector?: string;
}

const ELECTION_TIMING = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

export async function startMetricsOperator(options: MetricsOperatorOptions): Promise<MetricsOperator> {
  const { kubeconfig, namespace, selector = "" } = options;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const stop = new AbortController();
  const operator = await createOperator(
    {
      config: await clusterConfig(kubeconfig),
      logger: silentLogger,
      build: TEST_BUILD,
      namespaces: [namespace],
      selector,
      defaults: OPERATOR_DEFAULTS,
      rendering: { metadataConfigFormat: "xml" },
      bounds: {},
      drainSettleMs: 0,
      election: { namespace, name: "c662f7f5.firebolt.io", timing: ELECTION_TIMING },
      metrics: { registry, listen: { host: "127.0.0.1", port: 0 } },
      overrides: { events: { record: () => undefined } },
    },
    stop.signal,
  );
  const { manager, metricsServer } = operator;
  const running = manager.run(stop.signal);
  await Promise.race([metricsServer?.whenReady?.(stop.signal), running]);
  const page = async () => (await scrape(`http://127.0.0.1:${metricsServer?.port}/metrics`)).text;
  return {
    page,
    async series(labels = {}) {
      const wanted = Object.entries(labels);
      return parsePage(await page()).filter((series) => wanted.every(([name, value]) => series.labels[name] === value));
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      operator.close();
    },
  };
}
