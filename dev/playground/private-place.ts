// A place inside namespaces of its own: the host's half. It starts the inside, opens the doors, and hands out a kubeconfig that works in
// any terminal of this host.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { openDoor } from "../local-cluster/doors.ts";
import { installCharts, OPERATOR_NAMESPACE } from "../platform/charts.ts";
import type { NamedImage } from "../platform/image-values.ts";
import { SAMPLE } from "../platform/sample.ts";
import { UNCACHED_NAMES, type Values } from "../platform/values.ts";
import { textOf } from "./calls.ts";
import { type MachineOptions, startMachine } from "./machine.ts";
import type { Place } from "./place.ts";

const UP_MS = 300_000;
const CALL_MS = 120_000;
const IMAGES_MS = 300_000;

/**
 * Nobody could reach a webhook in a simulated pod: the operator's own runs nothing, a process beside it does. Queries never reach a
 * simulated pod, so no old generation has to be kept for clients that still have its addresses.
 */
const SIMULATED_VALUES: Values = { webhook: { enabled: false }, controllers: { drainSettle: "0s" } };

export interface PrivatePlaceOptions extends MachineOptions {
  readonly mode: "cluster" | "simulated";
  readonly folder: string;
  readonly images: readonly NamedImage[];
  readonly signal: AbortSignal;
}

export async function openPrivatePlace(options: PrivatePlaceOptions): Promise<Place> {
  const { mode, folder, images, signal, progress } = options;
  await using started = new AsyncDisposableStack();
  const machine = started.use(startMachine(options));
  const call = (name: string, input: object, timeoutMs: number): Promise<unknown> =>
    untilAborted(machine.call(name, input, timeoutMs), signal);
  const up = await call("up", {}, UP_MS);
  const door = started.use(await openDoor({ socket: textOf(up, "socket") }));
  const kubeconfig = join(folder, "kubeconfig");
  const text = withServer(readFileSync(textOf(up, "kubeconfig"), "utf8"), `https://127.0.0.1:${door.port}`);
  writeFileSync(kubeconfig, text, { mode: 0o600 });
  const stack = started.move();
  return {
    mode,
    address: { kubeconfig },
    namespace: SAMPLE.namespace,
    async installOperator() {
      const isSimulated = mode === "simulated";
      const values = isSimulated ? SIMULATED_VALUES : UNCACHED_NAMES;
      const charts = installCharts({ kubeconfig, images, values, waitForNothing: isSimulated, progress, signal });
      // Images of what the operator will start are loaded while it starts itself.
      if (isSimulated) await charts.then(() => call("operator", { namespace: OPERATOR_NAMESPACE }, CALL_MS));
      else await Promise.all([charts, call("images", {}, IMAGES_MS)]);
    },
    async openGateway(instance) {
      const answer = await call("gateway", { namespace: SAMPLE.namespace, instance }, CALL_MS);
      const gateway = stack.use(await openDoor({ socket: textOf(answer, "socket") }));
      return `http://127.0.0.1:${gateway.port}`;
    },
    lost: machine.ended,
    kill: () => machine.kill(),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** The same kubeconfig with another way to the same API server: its certificate is good for every port of 127.0.0.1. */
export function withServer(kubeconfig: string, server: string): string {
  const document = parseDocument(kubeconfig);
  document.setIn(["clusters", 0, "cluster", "server"], server);
  return document.toString();
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const abort = (): void => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  return promise;
}
