// Runs the engine controllers inside the test for one namespace until the test stops them, and records their requests,
// passes and log lines.
import type { Logger } from "@firebolt-operator/kube";
import type { RequestInfo } from "@firebolt-operator/kube/client";
import type { EnginePassRecord } from "../../../src/engine/metrics-hooks.ts";
import { clusterConfig } from "../control-plane/test-client.ts";
import { buildEngineOperator, type EngineOperatorOptions } from "./engine-operator.ts";

export interface LogLine {
  readonly level: "debug" | "info" | "error";
  readonly message: string;
  /** On the monotonic clock. */
  readonly atMs: number;
  readonly error?: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface EngineOperator extends AsyncDisposable {
  /** Requests since the caches synced, events included; watches and scrapes of gateways aside. */
  readonly requests: readonly RequestInfo[];
  readonly passes: readonly EnginePassRecord[];
  readonly log: readonly LogLine[];
  /** Waits until recorded events are written. True when no other request or reconcile is in progress, watches aside. */
  readonly isIdle: () => Promise<boolean>;
  /** Stops cleanly. A second call has no effect. */
  stop(): Promise<void>;
  /** As if the process had been killed: all work stops at once, and nothing is awaited. */
  abandon(): void;
}

export type InProcessOptions = Omit<
  EngineOperatorOptions,
  "config" | "namespaces" | "logger" | "onPass" | "election"
> & {
  readonly kubeconfig: string;
  readonly namespaces: readonly string[];
};

export async function startEngineOperator(options: InProcessOptions): Promise<EngineOperator> {
  const passes: EnginePassRecord[] = [];
  const log: LogLine[] = [];
  const { kubeconfig, ...rest } = options;
  const operator = await buildEngineOperator({
    ...rest,
    config: await clusterConfig(kubeconfig),
    logger: recordingLogger(log, {}),
    onPass: (record) => passes.push(record),
  });
  const stop = new AbortController();
  const running = operator.manager.run(stop.signal);
  // A failure of the manager rejects the race below; here it must not count as unhandled.
  running.catch(() => undefined);
  await Promise.race([operator.synced(stop.signal), running]);
  operator.requests.length = 0;
  let abandoned = false;
  const end = async (): Promise<void> => {
    stop.abort();
    if (!abandoned) await running;
    operator.close();
  };
  const abandon = (): void => {
    abandoned = true;
    stop.abort();
    operator.close();
  };
  const { requests, isIdle } = operator;
  return { requests, passes, log, isIdle, stop: end, abandon, [Symbol.asyncDispose]: end };
}

function recordingLogger(lines: LogLine[], context: Readonly<Record<string, unknown>>): Logger {
  const line = (level: LogLine["level"], message: string, fields: object | undefined, error?: unknown) => {
    lines.push({
      level,
      message,
      atMs: performance.now(),
      fields: { ...context, ...fields },
      ...(error === undefined ? {} : { error: String(error) }),
    });
  };
  return {
    debug: (message, fields) => line("debug", message, fields),
    info: (message, fields) => line("info", message, fields),
    error: (message, error, fields) => line("error", message, fields, error),
    with: (fields) => recordingLogger(lines, { ...context, ...fields }),
  };
}
