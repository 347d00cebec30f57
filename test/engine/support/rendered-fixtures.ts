// Renders engines from bare specs, as if the API server had stored them.
import type { EngineSpec, FireboltEngine } from "../../../src/api/firebolt-engine/engine.ts";
import type { EngineClassSpec, FireboltEngineClass } from "../../../src/api/firebolt-engine/engine-class.ts";
import { OPERATOR_DEFAULTS, type OperatorDefaults } from "../../../src/api/operator-defaults.ts";
import { type RenderedGeneration, type RenderInput, renderGeneration } from "../../../src/engine/render/generation.ts";
import { type EffectiveEngine, resolveEngine } from "../../../src/engine/resolve/effective-engine.ts";

export interface Layers {
  readonly engine?: Partial<EngineSpec>;
  readonly engineClass?: Partial<EngineClassSpec>;
  readonly defaults?: Partial<OperatorDefaults>;
}

export const storedEngine = (spec: Partial<EngineSpec> = {}, name = "e"): FireboltEngine => ({
  metadata: { name, namespace: "ns", uid: "7d0f3a3e-0000-4000-8000-000000000000" },
  spec: { instanceRef: "lakeside", replicas: 1, storage: {}, ...spec },
});

export const storedClass = (spec: Partial<EngineClassSpec> = {}, name = "c"): FireboltEngineClass => ({
  metadata: { name, namespace: "ns" },
  spec: { template: {}, storage: {}, ...spec },
});

export function resolve({ engine, engineClass, defaults }: Layers): EffectiveEngine {
  return resolveEngine({
    engine: storedEngine(engine),
    engineClass: engineClass === undefined ? undefined : storedClass(engineClass),
    defaults: { ...OPERATOR_DEFAULTS, ...defaults },
  });
}

export function render(
  layers: Layers,
  where: Partial<RenderInput["engine"] & { generation: number }> = {},
): RenderedGeneration {
  const { generation = 0, ...identity } = where;
  return renderGeneration({
    engine: { namespace: "ns", name: "e", uid: "7d0f3a3e-0000-4000-8000-000000000000", ...identity },
    effective: resolve(layers),
    generation,
    instance: { id: "01J0000000000000000000000", metadataEndpoint: "lakeside-metadata.ns.svc.cluster.local:7000" },
  });
}
