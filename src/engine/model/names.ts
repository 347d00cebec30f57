// Names of an engine and of what belongs to it. Pure strings; ownership and labels are settled elsewhere.
import type { Violation } from "../../podtemplate/rules/violation.ts";

/** An engine as its children refer to it. */
export interface EngineIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The suffix of every name inside the cluster. */
const CLUSTER_DOMAIN = "cluster.local";

export const statefulSetName = (engine: string, generation: number): string => `${engine}-g${generation}`;
/** The name of an object that every generation has: the suffix keeps those of one generation apart. */
export const generationObjectName =
  (suffix: string) =>
  (engine: string, generation: number): string =>
    `${statefulSetName(engine, generation)}-${suffix}`;
export const headlessServiceName = generationObjectName("hl");
export const configMapName = generationObjectName("config");
export const routingServiceName = (engine: string): string => `${engine}-service`;

/** The pod with this ordinal. */
export const podName = (engine: string, generation: number, index: number): string =>
  `${statefulSetName(engine, generation)}-${index}`;

/** The name under which the other nodes of a generation reach the one with this ordinal. */
export function nodeHost({ namespace, name }: EngineIdentity, generation: number, index: number): string {
  return `${podName(name, generation, index)}.${headlessServiceName(name, generation)}.${namespace}.svc.${CLUSTER_DOMAIN}`;
}

/** Longer names would make a StatefulSet name of more than 52 characters, whose pods cannot be labelled. */
export const MAX_ENGINE_NAME_LENGTH = 45;
const ENGINE_NAME = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;

/**
 * What is wrong with the name of an engine. The schema cannot express it, and the children's own errors would not
 * explain it.
 */
export function validateEngineName(name: string): Violation[] {
  const violations: Violation[] = [];
  const invalid = (detail: string) =>
    violations.push({ path: "metadata.name", type: "Invalid value", value: name, detail });
  if (name.length > MAX_ENGINE_NAME_LENGTH) {
    invalid(
      `has ${name.length} characters, at most ${MAX_ENGINE_NAME_LENGTH} are allowed: the names of the engine's ` +
        "StatefulSets and Services are derived from it",
    );
  }
  if (!ENGINE_NAME.test(name)) {
    invalid(
      "must start with a lower-case letter, end with a letter or digit and contain only lower-case letters, digits " +
        "and '-': the engine's Services are named after it",
    );
  }
  return violations;
}

/**
 * Whether a pod of the generation's StatefulSet has this name. A copy with the same labels, made by hand, does not
 * belong to the engine.
 */
export function isPodName(pod: string | undefined, engine: string, generation: number): boolean {
  const prefix = `${statefulSetName(engine, generation)}-`;
  return pod?.startsWith(prefix) === true && /^(?:0|[1-9][0-9]*)$/.test(pod.slice(prefix.length));
}
