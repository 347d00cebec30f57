// From the command line to a running target: decides its kind, installs what it needs on this host, and opens it.
import { join } from "node:path";
import { buildImages, IMAGE_NAMES } from "../images/catalog.ts";
import type { TargetChoice } from "./arguments.ts";
import { openExistingTarget } from "./existing-target.ts";
import { simulatedText } from "./explain.ts";
import { buildPrograms, ensureAssets, type HostCheckOptions, requireNetwork, whyNoCluster } from "./host-checks.ts";
import { openSandboxTarget } from "./sandbox-target.ts";
import type { Mode, Target } from "./target.ts";

export interface OpenTargetOptions extends HostCheckOptions {
  readonly choice: TargetChoice;
  /** All files are written below it. */
  readonly folder: string;
  readonly warn: (line: string) => void;
}

export interface Decision {
  readonly mode: Mode;
  /** Why the pods are simulated although --simulated was not given. */
  readonly fallback: string | undefined;
}

export async function decide(choice: TargetChoice, options: HostCheckOptions): Promise<Decision> {
  if (choice.type !== "automatic") return { mode: choice.type, fallback: undefined };
  const fallback = await whyNoCluster(options);
  return { mode: fallback === undefined ? "cluster" : "simulated", fallback };
}

export interface OpenedTarget {
  readonly target: Target;
  /** Another reference of the engine's image, if the target has one. */
  readonly nextImage: string | undefined | Promise<string | undefined>;
}

export async function openTarget(decision: Decision, options: OpenTargetOptions): Promise<OpenedTarget> {
  const { choice } = options;
  if (decision.mode === "simulated") {
    options.warn(simulatedText(decision.fallback));
    await requireNetwork(options);
  }
  await ensureAssets(decision.mode, options);
  if (decision.mode === "cluster") return openCluster(options);
  await buildPrograms(options);
  options.signal.throwIfAborted();
  if (choice.type === "existing")
    return { target: await openExistingTarget({ ...options, ...choice }), nextImage: undefined };
  return { target: await openSimulated(options), nextImage: "example.com/engine:next" };
}

function openSimulated({ folder, progress, signal }: OpenTargetOptions): Promise<Target> {
  return openSandboxTarget({
    folder,
    progress,
    signal,
    sandbox: "network",
    program: join(import.meta.dirname, "sandboxed/simulated.ts"),
    args: [folder],
    mode: "simulated",
    images: Promise.resolve([]),
  });
}

/** The images are built while the control plane starts: only the one that every pod's network needs must be there. */
async function openCluster(options: OpenTargetOptions): Promise<OpenedTarget> {
  const { folder, progress, signal } = options;
  const [pause] = await buildImages(["pause"], { progress, signal });
  signal.throwIfAborted();
  const images = Promise.all([buildImages(IMAGE_NAMES, { progress, signal }), buildPrograms(options)]).then(
    ([built]) => built,
  );
  // Awaited when the first image is needed: a failure shows there.
  images.catch(() => undefined);
  const target = await openSandboxTarget({
    folder,
    progress,
    signal,
    sandbox: "machine",
    program: join(import.meta.dirname, "sandboxed/cluster.ts"),
    args: [folder, JSON.stringify(pause)],
    mode: "cluster",
    images,
  });
  return {
    target,
    nextImage: images.then((built) => built.find(({ name }) => name === "engine")?.alternative),
  };
}
