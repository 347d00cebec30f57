// From the command line to a running place: decides which kind it is, makes sure of what it needs on this host, and opens it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildImages, IMAGE_NAMES, type ImageArchive } from "../image/catalog.ts";
import type { Target } from "./arguments.ts";
import { openExistingPlace } from "./existing-place.ts";
import { simulatedText } from "./explain.ts";
import type { Mode, Place } from "./place.ts";
import { openPrivatePlace } from "./private-place.ts";
import { type Asking, buildPrograms, ensureAssets, requireNetwork, whyNoCluster } from "./surroundings.ts";

export interface OpenPlaceOptions extends Asking {
  readonly target: Target;
  /** Everything that is written goes below. */
  readonly folder: string;
  readonly warn: (line: string) => void;
}

export interface Decision {
  readonly mode: Mode;
  /** Why the pods are simulated although nobody asked for it. */
  readonly fallback: string | undefined;
}

export async function decide(target: Target, asking: Asking): Promise<Decision> {
  if (target.type !== "automatic") return { mode: target.type, fallback: undefined };
  const fallback = await whyNoCluster(asking);
  return { mode: fallback === undefined ? "cluster" : "simulated", fallback };
}

export interface OpenedPlace {
  readonly place: Place;
  /** Another reference of the engine's image, if the place has one. */
  readonly nextImage: string | undefined;
}

export async function openPlace(decision: Decision, options: OpenPlaceOptions): Promise<OpenedPlace> {
  const { target, folder, say: progress, signal } = options;
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
  if (target.type === "existing")
    return { place: await openExistingPlace({ ...target, progress, signal }), nextImage: undefined };
  const common = { folder, progress, signal };
  if (decision.mode === "simulated") {
    const inside = { script: "private-network.sh", program: "simulated.ts", args: [folder] } as const;
    return {
      place: await openPrivatePlace({ ...common, ...inside, mode: "simulated", images: [] }),
      nextImage: "example.com/engine:next",
    };
  }
  const inside = {
    script: "private-machine.sh",
    program: "cluster.ts",
    args: [folder, listImages(folder, images)],
  } as const;
  return {
    place: await openPrivatePlace({ ...common, ...inside, mode: "cluster", images }),
    nextImage: images.find(({ name }) => name === "engine")?.alternative,
  };
}

/** The inside reads it: a list is too long for a command line that people may look at. */
function listImages(folder: string, images: readonly ImageArchive[]): string {
  const file = join(folder, "images.json");
  writeFileSync(file, JSON.stringify(images));
  return file;
}
