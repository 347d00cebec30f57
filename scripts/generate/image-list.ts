// Every image that an installation with the built-in settings can pull: what has to be mirrored where there is no internet. Published
// as images.txt, one reference per line, and in the chart's annotation. An image of a feature that cannot be enabled is not in it.
import { type DefaultImages, OPERATOR_DEFAULTS } from "../../src/api/operator-defaults.ts";

const REPOSITORY = "ghcr.io/firebolt-db/firebolt-operator";

export const IMAGE_LIST_FILE = "images.txt";

/** The web UI: the CRDs refuse to enable it, so nothing ever pulls its image. */
const UNUSED: ReadonlySet<string> = new Set<keyof DefaultImages>(["engineWeb"]);

export interface ListedImage {
  readonly name: string;
  readonly image: string;
}

export function listImages(version: string): readonly ListedImage[] {
  return [
    { name: "firebolt-operator", image: `${REPOSITORY}:v${version}` },
    ...Object.entries(OPERATOR_DEFAULTS.images)
      .filter(([name]) => !UNUSED.has(name))
      .map(([name, image]) => ({ name, image })),
  ];
}

export const renderImageList = (version: string): string =>
  listImages(version)
    .map(({ image }) => `${image}\n`)
    .join("");
