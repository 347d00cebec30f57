// Image references as values of the operator's chart. Pure.
import type { Values } from "./values.ts";

/** The part of the result of dev/images/catalog.ts that is needed here. */
export interface NamedImage {
  readonly name: string;
  /** `registry/name:tag` or `registry/name@sha256:…`. */
  readonly reference: string;
}

const DEFAULTS = ["engine", "metadata", "envoy", "postgres"];

/** Other names (`pause`) belong to the cluster, not to the operator. */
export function imageValues(images: readonly NamedImage[]): Values {
  const operator = images.find(({ name }) => name === "operator");
  const defaults = images.filter(({ name }) => DEFAULTS.includes(name));
  return {
    ...(operator === undefined ? {} : { image: splitReference(operator.reference) }),
    ...(defaults.length === 0
      ? {}
      : { defaultImages: Object.fromEntries(defaults.map(({ name, reference }) => [name, reference])) }),
  };
}

/** A registry's port is not a tag: a tag is not followed by a slash. */
export function splitReference(reference: string): Values {
  const [name = "", digest] = reference.split("@");
  const [, repository = name, tag] = /^(.+):([^:/]+)$/.exec(name) ?? [];
  if (digest === undefined && tag === undefined)
    throw new Error(`the image ${JSON.stringify(reference)} has neither tag nor digest`);
  return { repository, ...(tag === undefined ? {} : { tag }), ...(digest === undefined ? {} : { digest }) };
}
