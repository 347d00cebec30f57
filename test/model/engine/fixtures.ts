// The few objects that the model varies: two pod templates, three sizes, two rollouts, auto-stop or none, two classes,
// one instance. Each is made once, so that equal specs are the same object.
import { ENGINE_NAMES } from "../../../src/api/group.ts";
import type { Engine, EngineClass, Instance } from "../../../src/engine/model/children.ts";

export const NAMESPACE = "ns";
export const NAME = "e1";
export const FINALIZER = ENGINE_NAMES.finalizer;
export const KEY = { namespace: NAMESPACE, name: NAME } as const;

type Spec = NonNullable<Engine["spec"]>;
export const TEMPLATES = ["A", "B"] as const;
export const SIZES = [0, 1, 2] as const;
export const ROLLOUTS = ["graceful", "recreate"] as const;

export interface SpecAxes {
  readonly template: (typeof TEMPLATES)[number];
  readonly replicas: (typeof SIZES)[number];
  readonly rollout: (typeof ROLLOUTS)[number];
  readonly autoStop?: true;
}

/** Shorter than the long step of the clock, so that one such step makes an engine idle. */
export const IDLE_TIMEOUT_MS = 5 * 60_000;
const AUTO_STOP = { enabled: true, activeReplicas: 1, idleReplicas: 0, idleTimeout: "5m", pollInterval: "5m" };

const specs = new Map<string, Spec>();
const axesOfSpec = new WeakMap<Spec, SpecAxes>();

export function specIdOf({ template, replicas, rollout, autoStop }: SpecAxes): string {
  return `${template}${replicas}${rollout === "graceful" ? "" : "r"}${autoStop === undefined ? "" : "s"}`;
}

export function specOf(axes: SpecAxes): Spec {
  const known = specs.get(specIdOf(axes));
  if (known !== undefined) return known;
  const { template, replicas, rollout, autoStop } = axes;
  const made: Spec = Object.freeze({
    instanceRef: "i1",
    engineClassRef: "c1",
    replicas,
    rollout,
    storage: {},
    ...(autoStop === undefined ? {} : { autoStop: AUTO_STOP }),
    template: { spec: { containers: [{ name: "engine", image: `registry.test/engine:${template}` }] } },
  });
  specs.set(specIdOf(axes), made);
  axesOfSpec.set(made, axes);
  return made;
}

export function axesOf(engine: Engine): SpecAxes {
  const axes = engine.spec === undefined ? undefined : axesOfSpec.get(engine.spec);
  if (axes === undefined) throw new Error("the engine has a spec that the model did not make");
  return axes;
}

export function engineOf(axes: SpecAxes, uid: string, version: number): Engine {
  return {
    apiVersion: "compute.firebolt.io/v1alpha1",
    kind: "FireboltEngine",
    metadata: { name: NAME, namespace: NAMESPACE, uid, generation: 1, resourceVersion: String(version) },
    spec: specOf(axes),
  };
}

function classOf(color: string, generation: number): EngineClass {
  return Object.freeze({
    metadata: { name: "c1", namespace: NAMESPACE, uid: "c", generation },
    spec: { template: { metadata: { labels: { color } } }, storage: {} },
  });
}

/** The two versions of the class. */
export const CLASSES: readonly EngineClass[] = [classOf("red", 1), classOf("blue", 2)];

const INSTANCE: Instance = {
  metadata: { name: "i1", namespace: NAMESPACE, uid: "i" },
  spec: { id: "01H", metadataNG: false, metadata: { engineRegistration: false }, gateway: { metricsPort: 9090 } },
};
export const CLOSED_INSTANCE: Instance = Object.freeze({ ...INSTANCE });
export const OPEN_INSTANCE: Instance = Object.freeze({
  ...INSTANCE,
  status: { metadataEndpoint: "i1-metadata.ns:3471" },
});
