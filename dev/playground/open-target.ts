// From the command line to a running target: decides its kind, installs what it needs on this host, and opens it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildImages, IMAGE_NAMES, type ImageArchive } from "../images/catalog.ts";
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
  readonly nextImage: string | undefined;
}

export async function openTarget(decision: Decision, options: OpenTargetOptions): Promise<OpenedTarget> {
  const { choice, folder, progress, signal } = options;
  if (decision.mode === "simulated") {
    options.warn(simulatedText(decision.fallback));
    await requireNetwork(options);
  }
  await ensureAssets(decision.mode, options);
  const isCluster = decision.mode === "cluster";
  const [images] = await Promise.all([
    isCluster ? buildImages(IMAGE_NAMES, { progress, signal }) : [],
    buildPrograms(options),
  ]);
  signal.throwIfAborted();
  if (choice.type === "existing")
    return { target: await openExistingTarget({ ...choice, progress, signal }), nextImage: undefined };
  const common = { folder, progress, signal };
  if (decision.mode === "simulated") {
    const program = join(import.meta.dirname, "sandboxed/simulated.ts");
    return {
      target: await openSandboxTarget({
        ...common,
        sandbox: "network",
        program,
        args: [folder],
        mode: "simulated",
        images: [],
      }),
      nextImage: "example.com/engine:next",
    };
  }
  const program = join(import.meta.dirname, "sandboxed/cluster.ts");
  const args = [folder, listImages(folder, images)];
  return {
    target: await openSandboxTarget({ ...common, sandbox: "machine", program, args, mode: "cluster", images }),
    nextImage: images.find(({ name }) => name === "engine")?.alternative,
  };
}

/** Written to a file, because the list is too long for a readable command line. */
function listImages(folder: string, images: readonly ImageArchive[]): string {
  const file = join(folder, "images.json");
  writeFileSync(file, JSON.stringify(images));
  return file;
}
