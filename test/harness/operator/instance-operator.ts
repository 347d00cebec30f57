// The operator with its instance controller alone in this process, assembled as the program is, every request counted.
import { inspect } from "node:util";
import type { Clock, Logger } from "@firebolt-operator/kube";
import type { RequestInfo } from "@firebolt-operator/kube/client";
import type { EventNote } from "@firebolt-operator/kube/events";
import { OPERATOR_DEFAULTS, type OperatorDefaults } from "../../../src/api/operator-defaults.ts";
import type { InstancePassRecord } from "../../../src/instance/metrics-hooks.ts";
import { createOperator } from "../../../src/operator/create-operator.ts";
import type { Rendering } from "../../../src/operator/options.ts";
import { clusterConfig } from "../control-plane/test-client.ts";
import { TEST_BUILD } from "./test-build.ts";

export interface InstanceOperator extends AsyncDisposable {
  /** All requests since the caches synced, watches aside. */
  readonly requests: readonly RequestInfo[];
  readonly events: readonly EventNote[];
  readonly passes: readonly InstancePassRecord[];
  /** Every log line with its fields and errors. */
  readonly log: readonly string[];
}

export interface InstanceOperatorOptions {
  readonly kubeconfig: string;
  readonly defaults?: OperatorDefaults;
  readonly rendering?: Partial<Rendering>;
  readonly clock?: Clock;
  /** Called before every write is sent. */
  readonly guardWrite?: () => void;
}

export async function startInstanceOperator(options: InstanceOperatorOptions): Promise<InstanceOperator> {
  const { kubeconfig, defaults = OPERATOR_DEFAULTS, guardWrite, clock } = options;
  const log: string[] = [];
  const requests: RequestInfo[] = [];
  const events: EventNote[] = [];
  const passes: InstancePassRecord[] = [];
  const stop = new AbortController();
  const operator = await createOperator(
    {
      config: await clusterConfig(kubeconfig),
      logger: listLogger(log),
      build: TEST_BUILD,
      namespaces: [],
      selector: "",
      defaults,
      rendering: { metadataConfigFormat: "xml", ...options.rendering },
      bounds: {},
      drainSettleMs: 0,
      overrides: {
        controllers: ["instance"],
        onRequest: (info) => info.verb === "watch" || requests.push(info),
        events: { record: (event) => events.push(event) },
        productMetrics: {
          instance: { passEnded: (record) => passes.push(record), removed: () => undefined },
        },
        freezeCaches: true,
        ...(clock === undefined ? {} : { clock }),
        ...(guardWrite === undefined ? {} : { guardWrite }),
      },
    },
    stop.signal,
  );
  const running = operator.manager.run(stop.signal);
  // A failure before the caches are synced rejects the race; one after it rejects the disposal.
  running.catch(() => undefined);
  await Promise.race([operator.whenSynced(stop.signal), running]);
  requests.length = 0;
  return {
    requests,
    events,
    passes,
    log,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      operator.close();
    },
  };
}

function listLogger(log: string[]): Logger {
  const line = (message: string, ...rest: readonly unknown[]) => {
    log.push(
      [message, ...rest.map((part) => (part instanceof Error ? inspect(part) : JSON.stringify(part)))].join(" "),
    );
  };
  const logger: Logger = { debug: line, info: line, error: line, with: () => logger };
  return logger;
}
