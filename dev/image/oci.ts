// Assembles an OCI image layout from layers, as one archive that containerd, Podman and Docker can load. Equal layers and settings give
// equal bytes. It knows nothing of what is in the layers.
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { type TarEntry, writeTar } from "./tar.ts";

export interface Layer {
  /** What it is for, as `history` of the image tells. */
  readonly comment: string;
  readonly entries: readonly TarEntry[];
}

export interface ImageSettings {
  /** As `name:tag`. */
  readonly reference: string;
  readonly architecture: "amd64" | "arm64";
  readonly user: string;
  readonly environment: readonly string[];
  readonly entrypoint: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly createdSeconds: number;
}

export interface Image {
  /** The archive. */
  readonly archive: Buffer;
  /** Of the manifest: what a registry would call the image. */
  readonly digest: string;
  /** What a node downloads, and what it unpacks. */
  readonly compressedBytes: number;
  readonly unpackedBytes: number;
}

interface Blob {
  readonly digest: string;
  readonly content: Buffer;
}

const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";
const CONFIG_TYPE = "application/vnd.oci.image.config.v1+json";
const LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar+gzip";

export function buildImage(layers: readonly Layer[], settings: ImageSettings): Image {
  const { reference, createdSeconds } = settings;
  const packed = layers.map(({ comment, entries }) => {
    const tar = writeTar(entries, createdSeconds);
    return { comment, diffId: digestOf(tar), bytes: tar.length, blob: blobOf(gzipSync(tar, { level: 6 })) };
  });
  const config = jsonBlob(renderConfig(settings, packed));
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: MANIFEST_TYPE,
    config: descriptor(CONFIG_TYPE, config),
    layers: packed.map(({ blob }) => descriptor(LAYER_TYPE, blob)),
    annotations: settings.labels,
  });
  const blobs = [config, manifest, ...packed.map(({ blob }) => blob)];
  const [, tag = "latest"] = /:([^:/]+)$/.exec(reference) ?? [];
  const index = {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: [
      {
        ...descriptor(MANIFEST_TYPE, manifest),
        platform: { architecture: settings.architecture, os: "linux" },
        annotations: { "org.opencontainers.image.ref.name": tag, "io.containerd.image.name": reference },
      },
    ],
  };
  // What Docker reads; the others read index.json.
  const docker = [{ Config: pathOf(config), RepoTags: [reference], Layers: packed.map(({ blob }) => pathOf(blob)) }];
  const entries: readonly TarEntry[] = [
    { type: "file", path: "oci-layout", content: Buffer.from(JSON.stringify({ imageLayoutVersion: "1.0.0" })) },
    { type: "file", path: "index.json", content: Buffer.from(JSON.stringify(index)) },
    { type: "file", path: "manifest.json", content: Buffer.from(JSON.stringify(docker)) },
    ...blobs.map((blob): TarEntry => ({ type: "file", path: pathOf(blob), content: blob.content })),
  ];
  return {
    archive: writeTar(entries, createdSeconds),
    digest: manifest.digest,
    compressedBytes: packed.reduce((sum, { blob }) => sum + blob.content.length, 0),
    unpackedBytes: packed.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

function renderConfig(
  settings: ImageSettings,
  packed: readonly { readonly comment: string; readonly diffId: string }[],
): object {
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
      Labels: settings.labels,
    },
    rootfs: { type: "layers", diff_ids: packed.map(({ diffId }) => diffId) },
    history: packed.map(({ comment }) => ({ created, created_by: comment })),
  };
}

const digestOf = (content: Buffer): string => `sha256:${createHash("sha256").update(content).digest("hex")}`;
const blobOf = (content: Buffer): Blob => ({ digest: digestOf(content), content });
const jsonBlob = (value: object): Blob => blobOf(Buffer.from(JSON.stringify(value)));
const pathOf = ({ digest }: Blob): string => `blobs/${digest.replace(":", "/")}`;

function descriptor(mediaType: string, { digest, content }: Blob) {
  return { mediaType, digest, size: content.length };
}
