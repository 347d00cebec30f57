// Which machine an image is for: the one that builds it, since its programs and libraries are taken from there.
import type { ImageSettings } from "./oci.ts";

const ARCHITECTURES: Readonly<Record<string, ImageSettings["architecture"]>> = { x64: "amd64", arm64: "arm64" };

export function imageArchitecture(): ImageSettings["architecture"] {
  const architecture = ARCHITECTURES[process.arch];
  if (process.platform !== "linux" || architecture === undefined)
    throw new Error(
      `an image can be built on Linux (x64 or arm64) only, not on ${process.platform} ${process.arch}: use a Linux machine or the Dockerfile`,
    );
  return architecture;
}
