// Manifests of the three kinds for tests: valid ones in one line, the examples of the repository, and any spec at all for
// tests of what is refused.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { FireboltEngine, type FireboltEngineManifest } from "../../src/api/engine.ts";
import { FireboltEngineClass, type FireboltEngineClassManifest } from "../../src/api/engine-class.ts";
import { API_VERSION, type KindNames } from "../../src/api/group.ts";
import { FireboltInstance, type FireboltInstanceManifest } from "../../src/api/instance.ts";

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

const EXAMPLES = join(import.meta.dirname, "../../examples");

/** The manifests of examples/, by file name. */
export function readExamples(): readonly (readonly [string, AnyManifest])[] {
  return readdirSync(EXAMPLES)
    .filter((file) => file.endsWith(".yaml"))
    .sort()
    .map((file) => [file, parseExample(file)] as const);
}

function parseExample(file: string): AnyManifest {
  const document: unknown = parse(readFileSync(join(EXAMPLES, file), "utf8"));
  if (!isManifest(document)) throw new Error(`examples/${file} is no manifest of ours`);
  return document;
}

const isManifest = (value: unknown): value is AnyManifest =>
  typeof value === "object" &&
  value !== null &&
  "kind" in value &&
  typeof value.kind === "string" &&
  value.kind in KINDS;
