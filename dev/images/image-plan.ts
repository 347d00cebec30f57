// The plan of an image of the local cluster before it is built: the inputs that determine its contents, cheap to
// compute, and how to build its layers if no archive with the same inputs exists.
import { createHash } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import type { ImageParts, ImageSettings } from "./oci.ts";

export interface ImagePlan {
  /** Shown in the tag. */
  readonly version: string;
  /** Files of this machine that it is made of; a change of one makes another image. */
  readonly machineFiles: readonly string[];
  /** Contents of our own. */
  readonly contents: readonly Buffer[];
  readonly compose: () => ImageParts | Promise<ImageParts>;
}

/** What plans are made from. */
export interface Workbench {
  /** Root of the repository. */
  readonly root: string;
  /** A Node for the image's platform. */
  readonly node: string;
  readonly nodeVersion: string;
  readonly architecture: ImageSettings["architecture"];
}

/** Rewritten whenever a library is installed or replaced. */
const LOADER_CACHE = "/etc/ld.so.cache";

/**
 * The same for the same inputs. Files of the machine are compared by modification time, not read: at worst an identical
 * image is rebuilt.
 */
export function inputKey({ version, machineFiles, contents }: ImagePlan, sources: readonly Buffer[]): string {
  const hash = createHash("sha256").update(version);
  for (const file of [...machineFiles, ...(machineFiles.length > 0 ? [LOADER_CACHE] : [])]) {
    const { size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    hash.update(`\0${realpathSync(file)}\0${size}\0${mtimeNs}\0${ctimeNs}`);
  }
  for (const content of [...contents, ...sources]) hash.update(`\0${content.length}\0`).update(content);
  return hash.digest("hex").slice(0, 16);
}

/** Settings of an image that is made for the local cluster only. */
export function localSettings(
  settings: Pick<ImageSettings, "architecture" | "user" | "environment" | "entrypoint"> & Partial<ImageSettings>,
  title: string,
): ImageSettings {
  return { labels: { "org.opencontainers.image.title": title }, createdSeconds: 0, ...settings };
}
