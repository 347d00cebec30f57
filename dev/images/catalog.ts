// The images of the local cluster, each as an archive that containerd imports: built from this machine's programs and our own sources,
// without a registry or a container engine, and kept in the cache for as long as nothing they are made of changes.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../assets/cache.ts";
import { type Progress, withTicker } from "../assets/ticker.ts";
import { type ArchiveStore, openArchiveStore, type StoredArchive } from "./archive-store.ts";
import { planEngineImage } from "./engine-image.ts";
import { planEnvoyImage } from "./envoy-image.ts";
import { type ImagePlan, inputKey, type Workbench } from "./image-plan.ts";
import { imageArchitecture } from "./machine-platform.ts";
import { planMetadataImage } from "./metadata-image.ts";
import { assembleImage, createLayerPacker, type LayerPacker, writeArchive } from "./oci.ts";
import { planOperatorImage } from "./operator-image.ts";
import { planPauseImage } from "./pause-image.ts";
import { planPostgresImage } from "./postgres-image.ts";

export type ImageName = "operator" | "engine" | "metadata" | "envoy" | "postgres" | "pause";
export const IMAGE_NAMES: readonly ImageName[] = ["operator", "engine", "metadata", "envoy", "postgres", "pause"];

export interface ImageArchive {
  readonly name: ImageName;
  /** What pods call it: fully qualified, so that nothing is added, with a tag that changes with the contents. */
  readonly reference: string;
  /** Another name of the same image in the same archive: a change of image that is none, to roll what uses it. */
  readonly alternative: string;
  readonly file: string;
}

export interface BuildOptions {
  /** Where archives are kept. Default: the project's part of the user's cache folder. */
  readonly folder?: string;
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
}

const ROOT = join(import.meta.dirname, "../..");
/** No registry has this name: an image that was not imported fails at once instead of coming from elsewhere. */
const PREFIX = "localhost/firebolt";

const PLANS: Readonly<Record<ImageName, (bench: Workbench, progress: Progress) => ImagePlan | Promise<ImagePlan>>> = {
  operator: planOperatorImage,
  engine: planEngineImage,
  metadata: planMetadataImage,
  envoy: planEnvoyImage,
  postgres: planPostgresImage,
  pause: planPauseImage,
};

export async function buildImages(
  names: readonly ImageName[],
  { folder = join(cacheFolder(process.env), "images"), progress = () => undefined, signal }: BuildOptions = {},
): Promise<readonly ImageArchive[]> {
  const bench: Workbench = {
    root: ROOT,
    node: process.execPath,
    nodeVersion: process.versions.node,
    architecture: imageArchitecture(),
  };
  const store = await openArchiveStore(folder);
  const packer = createLayerPacker("zstd");
  const sources = readSources();
  const wanted = [...new Set(names)];
  const plans = await Promise.all(wanted.map(async (name) => ({ name, plan: await PLANS[name](bench, progress) })));
  const archives: ImageArchive[] = [];
  for (const { name, plan } of plans) {
    signal?.throwIfAborted();
    const key = inputKey(plan, sources);
    const { references, file } =
      (await store.find(name, key)) ?? (await build({ name, key, plan, store, packer, progress }));
    const [reference = "", alternative = ""] = references;
    archives.push({ name, reference, alternative, file });
  }
  return archives;
}

interface Building {
  readonly name: ImageName;
  readonly key: string;
  readonly plan: ImagePlan;
  readonly store: ArchiveStore;
  readonly packer: LayerPacker;
  readonly progress: Progress;
}

function build({ name, key, plan, store, packer, progress }: Building): Promise<StoredArchive> {
  return store.make({
    name,
    key,
    progress,
    make: () =>
      withTicker(`building the image ${name}`, progress, async () => {
        const { layers, settings } = await plan.compose();
        const image = assembleImage(layers.map(packer.pack), settings);
        const reference = `${PREFIX}/${name}:${plan.version}-${image.manifest.digest.slice("sha256:".length).slice(0, 12)}`;
        const references = [reference, `${reference}-again`];
        return { references, archive: writeArchive(image, references) };
      }),
  });
}

/** The code that decides what is in an image is part of what an image is made of. */
function readSources(): readonly Buffer[] {
  const folder = import.meta.dirname;
  return readdirSync(folder)
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .sort()
    .map((file) => readFileSync(join(folder, file)));
}
