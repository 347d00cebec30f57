// Every image that an installation with the built-in settings can pull: what has to be mirrored where there is no internet. Published
// as images.txt, one reference per line, and in the chart's annotation.
import { OPERATOR_DEFAULTS } from "../../src/api/operator-defaults.ts";

const REPOSITORY = "ghcr.io/firebolt-db/firebolt-operator";

export const IMAGE_LIST_FILE = "images.txt";

export interface ListedImage {
  readonly name: string;
  readonly image: string;
}

export function listImages(version: string): readonly ListedImage[] {
  return [
    { name: "firebolt-operator", image: `${REPOSITORY}:v${version}` },
    ...Object.entries(OPERATOR_DEFAULTS.images).map(([name, image]) => ({ name, image })),
  ];
}

export const renderImageList = (version: string): string =>
  listImages(version)
    .map(({ image }) => `${image}\n`)
    .join("");
