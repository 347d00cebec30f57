// The effective engine: everything that three layers (operator default < class < engine) come to, before any object is
// rendered. Pure: no reads, no clock; the same input always gives the same result.

import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import type { OperatorDefaults } from "../../api/operator-defaults.ts";
import type { PodTemplateFragment } from "../../api/schema/pod-template.ts";
import { copyOf, type DeepReadonly } from "../../api/values/deep-readonly.ts";
import { jsonHash } from "../../podtemplate/content-hash.ts";
import { normalPodTemplate } from "../../podtemplate/shapes/server-defaults.ts";
import { type CustomConfig, resolveCustomConfig } from "./custom-config.ts";
import { type EffectiveContainer, resolveEngineContainer } from "./engine-container.ts";
import { type EffectivePod, engineContainerOf, resolveEnginePod } from "./engine-pod.ts";
import { withoutVolumes } from "./secret-alias.ts";
import { type RolloutSettings, resolveSettings } from "./settings.ts";
import { type EffectiveStorage, resolveStorage } from "./storage.ts";

export interface EffectiveEngine {
  readonly replicas: number;
  readonly pod: EffectivePod;
  readonly container: EffectiveContainer;
  readonly storage: EffectiveStorage;
  readonly customConfig: CustomConfig;
  /** Present exactly when there is a class. */
  readonly classHash: string | undefined;
  /** Absent when unset or empty. */
  readonly metadataEndpointOverride: string | undefined;
  readonly settings: RolloutSettings;
}

export interface ResolveInput {
  readonly engine: DeepReadonly<FireboltEngine>;
  readonly engineClass: DeepReadonly<FireboltEngineClass> | undefined;
  readonly defaults: OperatorDefaults;
  /** Volumes of the templates that the pods do not get. */
  readonly leftOut?: ReadonlySet<string>;
}

export function resolveEngine(input: ResolveInput): EffectiveEngine {
  const { engine, engineClass, defaults, leftOut = new Set() } = input;
  const [spec, classSpec] = [engine.spec, engineClass?.spec];
  const template = withoutVolumes(templateOf(spec?.template), leftOut);
  const classTemplate = withoutVolumes(templateOf(classSpec?.template), leftOut);
  return {
    replicas: spec?.replicas ?? 0,
    pod: resolveEnginePod(classTemplate, template),
    container: resolveEngineContainer(engineContainerOf(classTemplate), engineContainerOf(template), defaults),
    storage: resolveStorage(classSpec?.storage, spec?.storage),
    customConfig: resolveCustomConfig(classSpec?.customEngineConfig, spec?.customEngineConfig),
    classHash: engineClass === undefined ? undefined : hashClassTemplate(classSpec?.template),
    metadataEndpointOverride: spec?.metadataEndpointOverride || undefined,
    settings: resolveSettings(classSpec, spec),
  };
}

/** Hash of the class's whole template in its normal form: writing the same thing differently does not roll engines. */
export function hashClassTemplate(template: DeepReadonly<PodTemplateFragment> | undefined): string {
  return jsonHash(normalPodTemplate(template ?? {}));
}

/** Rendered objects are built from parts of the template, so they get a copy of their own. */
function templateOf(template: DeepReadonly<PodTemplateFragment> | undefined): PodTemplateFragment | undefined {
  return template === undefined ? undefined : copyOf<PodTemplateFragment>(template);
}
