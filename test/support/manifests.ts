// Manifests of the three kinds for tests: valid ones in one line, the examples of the repository, and any spec at all for
// tests of what is refused.
import { FireboltEngine, type FireboltEngineManifest } from "../../src/api/engine.ts";
import { FireboltEngineClass, type FireboltEngineClassManifest } from "../../src/api/engine-class.ts";
import { API_VERSION, type KindNames } from "../../src/api/group.ts";
import { FireboltInstance, type FireboltInstanceManifest } from "../../src/api/instance.ts";
import { readExampleFiles } from "./example-files.ts";

interface Identity {
  readonly name: string;
  readonly namespace?: string;
}

type SpecOf<M extends { spec?: unknown }> = Partial<NonNullable<M["spec"]>>;

const head = (kind: string, { name, namespace }: Identity) => ({
  apiVersion: API_VERSION,
  kind,
  metadata: namespace === undefined ? { name } : { name, namespace },
});

/** The smallest instance, with these fields of the spec. */
export function instance(identity: Identity & SpecOf<FireboltInstanceManifest>): FireboltInstanceManifest {
  const { name: _name, namespace: _namespace, ...spec } = identity;
  return { ...head("FireboltInstance", identity), spec: { metadata: {}, gateway: {}, ...spec } };
}

/** The smallest engine (one replica, instance `lakeside`), with these fields of the spec. */
export function engine(identity: Identity & SpecOf<FireboltEngineManifest>): FireboltEngineManifest {
  const { name: _name, namespace: _namespace, ...spec } = identity;
  return { ...head("FireboltEngine", identity), spec: { instanceRef: "lakeside", replicas: 1, ...spec } };
}

/** The smallest class, with these fields of the spec. */
export function engineClass(identity: Identity & SpecOf<FireboltEngineClassManifest>): FireboltEngineClassManifest {
  const { name: _name, namespace: _namespace, ...spec } = identity;
  return { ...head("FireboltEngineClass", identity), spec: { template: {}, ...spec } };
}

export type KindName = "FireboltInstance" | "FireboltEngine" | "FireboltEngineClass";

export const KINDS: Readonly<Record<KindName, KindNames>> = { FireboltInstance, FireboltEngine, FireboltEngineClass };

/** A manifest whose content is not known to be valid. */
export interface AnyManifest {
  readonly apiVersion: string;
  readonly kind: KindName;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: unknown;
}

/** The smallest valid spec of each kind. */
export const SMALLEST: Readonly<Record<KindName, Readonly<Record<string, unknown>>>> = {
  FireboltInstance: { metadata: {}, gateway: {} },
  FireboltEngine: { instanceRef: "lakeside", replicas: 1 },
  FireboltEngineClass: { template: {} },
};

/** Any spec at all; `undefined` leaves it out. */
export function manifest(kind: KindName, identity: Identity, spec: unknown): AnyManifest {
  return { ...head(kind, identity), kind, ...(spec === undefined ? {} : { spec }) };
}

/** The manifests of our kinds in examples/, each by its file and name, after those that it needs. */
export function readExamples(): readonly (readonly [string, AnyManifest])[] {
  return readExampleFiles().flatMap(({ file, objects }) =>
    objects.filter(isManifest).map((object) => [`${file}: ${object.kind} ${object.metadata.name}`, object] as const),
  );
}

/** The one manifest of this kind in a file of examples/. */
export function exampleOf(file: string, kind: KindName): AnyManifest {
  const found = readExampleFiles()
    .filter((example) => example.file === file)
    .flatMap(({ objects }) => objects.filter(isManifest).filter((object) => object.kind === kind));
  const [object] = found;
  if (object === undefined || found.length > 1)
    throw new Error(`examples/${file} holds ${found.length} ${kind}, not one`);
  return object;
}

const isManifest = (value: { readonly kind: string }): value is AnyManifest => value.kind in KINDS;
