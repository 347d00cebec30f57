// A target in a sandbox, the host's side: starts the sandboxed process, opens port forwards, and writes a kubeconfig that works in any
// terminal of this host.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { installCharts, installCrds, installOperator, OPERATOR_NAMESPACE } from "../deploy/charts.ts";
import { SAMPLE } from "../deploy/sample.ts";
import { UNCACHED_NAMES, type Values } from "../deploy/values.ts";
import type { ImageArchive } from "../images/catalog.ts";
import { stringOf } from "../sandbox/calls.ts";
import { openPortForward } from "../sandbox/port-forwards.ts";
import { type SandboxedProcessOptions, startSandboxedProcess } from "../sandbox/sandboxed-process.ts";
import type { Target } from "./target.ts";

const UP_MS = 300_000;
const CALL_MS = 120_000;
const IMAGES_MS = 300_000;

/**
 * A webhook in a simulated pod is unreachable: the operator runs as a process beside the control plane, not in its pod. Queries never
 * reach a simulated pod, so no superseded generation has to stay for clients that still have its addresses.
 */
const SIMULATED_VALUES: Values = { webhook: { enabled: false }, controllers: { drainSettle: "0s" } };

/** In the order in which they are needed. The operator's must be there before its chart is installed. */
const FIRST_IMAGES: readonly string[] = ["operator"];
const LATER_IMAGES: readonly string[] = ["postgres", "metadata", "envoy", "engine"];

export interface SandboxTargetOptions extends SandboxedProcessOptions {
  readonly mode: "cluster" | "simulated";
  readonly folder: string;
  /** Of the cluster. They may still be built while it starts. */
  readonly images: Promise<readonly ImageArchive[]>;
  readonly signal: AbortSignal;
}

export async function openSandboxTarget(options: SandboxTargetOptions): Promise<Target> {
  const { mode, folder, images, signal, progress } = options;
  await using started = new AsyncDisposableStack();
  const sandbox = started.use(startSandboxedProcess(options));
  const call = (name: string, input: object, timeoutMs: number): Promise<unknown> =>
    untilAborted(sandbox.call(name, input, timeoutMs), signal);
  const up = await call("up", {}, UP_MS);
  const forward = started.use(await openPortForward({ socket: stringOf(up, "socket") }));
  const kubeconfig = join(folder, "kubeconfig");
  const text = withServer(readFileSync(stringOf(up, "kubeconfig"), "utf8"), `https://127.0.0.1:${forward.port}`);
  writeFileSync(kubeconfig, text, { mode: 0o600 });
  const stack = started.move();
  return {
    mode,
    address: { kubeconfig },
    namespace: SAMPLE.namespace,
    async installOperator() {
      const install = { kubeconfig, progress, signal };
      if (mode === "simulated") {
        progress("the cluster is up");
        await installCharts({ ...install, values: SIMULATED_VALUES, waitForNothing: true });
        await call("operator", { namespace: OPERATOR_NAMESPACE }, CALL_MS);
        return;
      }
      const load = async (names: readonly string[]): Promise<unknown> => {
        const built = await images;
        const wanted = names.flatMap((name) => built.filter((image) => image.name === name));
        return call("images", { images: wanted }, IMAGES_MS);
      };
      // Neither depends on the other.
      await Promise.all([installCrds(install), load(FIRST_IMAGES).then(() => call("node", {}, UP_MS))]);
      progress("the cluster is up");
      // Images that the operator's children need are loaded while the operator starts.
      const operator = installOperator({ ...install, images: await images, values: UNCACHED_NAMES });
      await Promise.all([operator, load(LATER_IMAGES)]);
    },
    async openGateway(instance) {
      const response = await call("gateway", { namespace: SAMPLE.namespace, instance }, CALL_MS);
      const gateway = stack.use(await openPortForward({ socket: stringOf(response, "socket") }));
      return `http://127.0.0.1:${gateway.port}`;
    },
    lost: sandbox.ended,
    kill: () => sandbox.kill(),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** The same kubeconfig with another URL of the same API server: its certificate is valid for every port of 127.0.0.1. */
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
