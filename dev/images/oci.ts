// Assembles an OCI image layout from layers, as one archive that containerd, Podman and Docker can load. Equal layers and settings give
// equal bytes. It knows nothing of what is in the layers.
import { createHash } from "node:crypto";
import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import { type TarEntry, writeTar } from "./tar.ts";

export interface Layer {
  /** What it is for, as the image's `history` shows. */
  readonly comment: string;
  readonly entries: readonly TarEntry[];
}

/** `gzip` is read everywhere; `zstd` is made and unpacked several times faster. */
export type Compression = "gzip" | "zstd";

/** A layer as it is stored; equal entries give equal bytes, whatever image they are for. */
export interface PackedLayer {
  readonly comment: string;
  readonly mediaType: string;
  readonly diffId: string;
  readonly unpackedBytes: number;
  readonly blob: Blob;
}

export interface ImageSettings {
  readonly architecture: "amd64" | "arm64";
  readonly user: string;
  readonly environment: readonly string[];
  readonly entrypoint: readonly string[];
  /** What the runtime sends to end it, when that is not SIGTERM. */
  readonly stopSignal?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdSeconds: number;
}

/** What an image is made of. */
export interface ImageParts {
  /** What changes least comes first. */
  readonly layers: readonly Layer[];
  readonly settings: ImageSettings;
}

export interface Image {
  readonly architecture: ImageSettings["architecture"];
  readonly config: Blob;
  readonly manifest: Blob;
  readonly layers: readonly PackedLayer[];
}

export interface Blob {
  readonly digest: string;
  readonly content: Buffer;
}

const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";
const CONFIG_TYPE = "application/vnd.oci.image.config.v1+json";
const LAYER_TYPES = {
  gzip: "application/vnd.oci.image.layer.v1.tar+gzip",
  zstd: "application/vnd.oci.image.layer.v1.tar+zstd",
} as const satisfies Record<Compression, string>;
const COMPRESSORS: Readonly<Record<Compression, (tar: Buffer) => Buffer>> = {
  gzip: (tar) => gzipSync(tar, { level: 6 }),
  zstd: (tar) => zstdCompressSync(tar, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
};
/** Files carry no time: a layer that did not change is the same layer, and nodes keep layers they have. */
const FILE_TIME_SECONDS = 0;

export interface LayerPacker {
  pack(layer: Layer): PackedLayer;
}

/** What several images share is compressed once. */
export function createLayerPacker(compression: Compression): LayerPacker {
  const known = new Map<string, Blob>();
  return {
    pack({ comment, entries }) {
      const tar = writeTar(entries, FILE_TIME_SECONDS);
      const diffId = digestOf(tar);
      const blob = known.get(diffId) ?? blobOf(COMPRESSORS[compression](tar));
      known.set(diffId, blob);
      return { comment, mediaType: LAYER_TYPES[compression], diffId, unpackedBytes: tar.length, blob };
    },
  };
}

/** The digest of its manifest is what a registry would call the image. */
export function assembleImage(layers: readonly PackedLayer[], settings: ImageSettings): Image {
  const config = jsonBlob(renderConfig(settings, layers));
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: MANIFEST_TYPE,
    config: descriptor(CONFIG_TYPE, config),
    layers: layers.map(({ mediaType, blob }) => descriptor(mediaType, blob)),
    annotations: settings.labels,
  });
  return { architecture: settings.architecture, config, manifest, layers };
}

/** One archive that holds the image under all these names, each as `name:tag`. */
export function writeArchive({ architecture, config, manifest, layers }: Image, names: readonly string[]): Buffer {
  const index = {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: names.map((name) => ({
      ...descriptor(MANIFEST_TYPE, manifest),
      platform: { architecture, os: "linux" },
      annotations: { "org.opencontainers.image.ref.name": tagOf(name), "io.containerd.image.name": name },
    })),
  };
  // What Docker reads; the others read index.json.
  const docker = [{ Config: pathOf(config), RepoTags: names, Layers: layers.map(({ blob }) => pathOf(blob)) }];
  const json = (path: string, value: object): TarEntry => {
    return { type: "file", path, content: Buffer.from(JSON.stringify(value)) };
  };
  const blobs = [config, manifest, ...layers.map(({ blob }) => blob)];
  const entries: readonly TarEntry[] = [
    json("oci-layout", { imageLayoutVersion: "1.0.0" }),
    json("index.json", index),
    json("manifest.json", docker),
    ...blobs.map((blob): TarEntry => ({ type: "file", path: pathOf(blob), content: blob.content })),
  ];
  return writeTar(entries, FILE_TIME_SECONDS);
}

/** What a node downloads, and what it unpacks. */
export function sizesOf({ layers }: Image): { readonly compressedBytes: number; readonly unpackedBytes: number } {
  return {
    compressedBytes: layers.reduce((sum, { blob }) => sum + blob.content.length, 0),
    unpackedBytes: layers.reduce((sum, { unpackedBytes }) => sum + unpackedBytes, 0),
  };
}

function renderConfig(settings: ImageSettings, layers: readonly PackedLayer[]): object {
  const created = new Date(settings.createdSeconds * 1000).toISOString();
  return {
    created,
    architecture: settings.architecture,
    os: "linux",
    config: {
      User: settings.user,
      Env: settings.environment,
      Entrypoint: settings.entrypoint,
      WorkingDir: "/",
      ...(settings.stopSignal === undefined ? {} : { StopSignal: settings.stopSignal }),
      Labels: settings.labels,
    },
    rootfs: { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(({ comment }) => ({ created, created_by: comment })),
  };
}

const tagOf = (name: string): string => /:([^:/]+)$/.exec(name)?.[1] ?? "latest";
const digestOf = (content: Buffer): string => `sha256:${createHash("sha256").update(content).digest("hex")}`;
const blobOf = (content: Buffer): Blob => ({ digest: digestOf(content), content });
const jsonBlob = (value: object): Blob => blobOf(Buffer.from(JSON.stringify(value)));
const pathOf = ({ digest }: Blob): string => `blobs/${digest.replace(":", "/")}`;

function descriptor(mediaType: string, { digest, content }: Blob) {
  return { mediaType, digest, size: content.length };
}
