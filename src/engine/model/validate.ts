// What is wrong with an engine beyond its schema: name, pod template, resource bounds. Admission and the controller
// call the same function. Lists violations; what follows from them is decided by the caller.

import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import type { V1ResourceRequirements } from "../../api/generated/kubernetes.ts";
import type { PodTemplateFragment } from "../../api/schema/pod-template.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import { parseQuantity, type Quantity } from "../../api/values/quantity.ts";
import { validateTemplate } from "../../podtemplate/rules/validate-template.ts";
import type { Violation } from "../../podtemplate/rules/violation.ts";
import { hasResources } from "./has-resources.ts";
import { validateEngineName } from "./names.ts";
import { ENGINE_CONTAINER } from "./pod-contract.ts";

/** In the order in which violations are listed. */
export const BOUNDED_RESOURCES = ["cpu", "ephemeral-storage", "memory"] as const;
export type BoundedResource = (typeof BOUNDED_RESOURCES)[number];

/** The largest request and limit of an engine container, as written on the command line. Absent means no bound. */
export type ResourceBounds = Readonly<Partial<Record<BoundedResource, string>>>;

export interface EngineToValidate {
  readonly engine: DeepReadonly<FireboltEngine>;
  readonly engineClass: DeepReadonly<FireboltEngineClass> | undefined;
  readonly bounds: ResourceBounds;
}

export interface EngineViolations {
  readonly name: Violation[];
  readonly template: Violation[];
  readonly bounds: Violation[];
}

export function validateEngine(input: EngineToValidate): EngineViolations {
  const { engine } = input;
  return {
    name: validateEngineName(engine.metadata?.name ?? ""),
    template: validateTemplate("engine", engine.spec?.template, "spec.template"),
    bounds: validateBounds(input),
  };
}

/**
 * Reads bounds as the command line gives them: empty or zero means none. The names of those that are no quantity come
 * back in `malformed`, and the process must not start with them.
 */
export function parseResourceBounds(texts: Readonly<Record<BoundedResource, string>>): {
  readonly bounds: ResourceBounds;
  readonly malformed: readonly BoundedResource[];
} {
  const given = BOUNDED_RESOURCES.filter((resource) => texts[resource] !== "");
  const value = (resource: BoundedResource) => parseQuantity(texts[resource]);
  return {
    bounds: Object.fromEntries(given.filter((name) => value(name) !== 0n).map((name) => [name, texts[name]])),
    malformed: given.filter((name) => {
      const parsed = value(name);
      return parsed === undefined || parsed < 0n;
    }),
  };
}

type Requirements = DeepReadonly<V1ResourceRequirements>;

/** The effective block of the engine container, whole from the engine or whole from the class. */
function validateBounds({ engine, engineClass, bounds }: EngineToValidate): Violation[] {
  const own = containerOf(engine.spec?.template);
  const inherited = !hasResources(own) && engineClass !== undefined;
  const resources = (inherited ? containerOf(engineClass.spec?.template) : own)?.resources ?? {};
  const origin = inherited
    ? `; inherited from FireboltEngineClass ${JSON.stringify(engineClass.metadata?.name ?? "")}: ` +
      "set resources on the engine to override it"
    : "";
  return [
    ...blockViolations("requests", resources, bounds, origin),
    ...blockViolations("limits", resources, bounds, origin),
  ];
}

function blockViolations(
  block: "requests" | "limits",
  resources: Requirements,
  bounds: ResourceBounds,
  origin: string,
): Violation[] {
  return BOUNDED_RESOURCES.flatMap((resource): Violation[] => {
    const [value, bound] = [resources[block]?.[resource], bounds[resource]];
    if (value === undefined || bound === undefined || !exceeds(value, parseQuantity(bound))) return [];
    const path = `spec.template.spec.containers[${ENGINE_CONTAINER}].resources.${block}[${resource}]`;
    return [{ path, type: "Invalid value", value, detail: `exceeds the maximum ${bound}${origin}` }];
  });
}

/** What cannot be read cannot be shown to be within a bound. */
function exceeds(value: unknown, bound: Quantity | undefined): boolean {
  const parsed = parseQuantity(value);
  return bound !== undefined && (parsed === undefined || parsed > bound);
}

function containerOf(template: DeepReadonly<PodTemplateFragment> | undefined) {
  return template?.spec?.containers?.find(({ name }) => name === ENGINE_CONTAINER);
}
