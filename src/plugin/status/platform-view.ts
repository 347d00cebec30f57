// The status tree as data: instances with their engines, generations and pods, and why each one waits. render-tree.ts
// prints it; -o json prints it as it is.

import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { V1Pod, V1StatefulSet } from "../../api/generated/kubernetes.ts";
import { COMPONENTS, LABEL } from "../../api/labels.ts";
import { isPodReady } from "../../pods/pod-trouble.ts";
import { nameOf, namespaceOf } from "../cluster/find-object.ts";
import { explainDefaultEngine, type SelectionView, viewSelection } from "./default-engine.ts";
import { type EngineView, viewEngine } from "./engine-view.ts";
import { type Explanation, explainInstance } from "./explain.ts";
import { type GatewayView, viewGateways } from "./gateways/gateway-view.ts";
import type { ObservedPlatform } from "./observe-platform.ts";

export interface ComponentView {
  readonly name: string;
  readonly ready: number;
  readonly wanted: number;
}

export interface InstanceView {
  readonly namespace: string;
  readonly name: string;
  readonly phase: string;
  readonly createdAt: string | undefined;
  readonly components: readonly ComponentView[];
  readonly selection: SelectionView;
  /** Only where gateway pods were read. */
  readonly gateways?: readonly GatewayView[];
  readonly engines: readonly EngineView[];
  readonly waits: Explanation | undefined;
}

export interface PlatformView {
  readonly instances: readonly InstanceView[];
  /** Engines whose instance does not exist. */
  readonly strayEngines: readonly EngineView[];
}

export function viewPlatform(observed: ObservedPlatform): PlatformView {
  const engines = observed.engines.map((engine) => viewEngine(engine, observed)).sort(byName);
  const instances = observed.instances
    .map((instance) => {
      const [namespace, name] = [namespaceOf(instance), nameOf(instance)];
      const own = engines.filter((engine) => engine.namespace === namespace && engine.instance === name);
      return viewInstance(instance, own, observed);
    })
    .sort(byName);
  const known = new Set(instances.map(({ namespace, name }) => `${namespace}/${name}`));
  return {
    instances,
    strayEngines: engines.filter(({ namespace, instance }) => !known.has(`${namespace}/${instance}`)),
  };
}

function viewInstance(
  instance: FireboltInstance,
  engines: readonly EngineView[],
  observed: ObservedPlatform,
): InstanceView {
  const [namespace, name] = [namespaceOf(instance), nameOf(instance)];
  const isOwn = ({ metadata }: Pick<V1Pod, "metadata">): boolean =>
    metadata?.namespace === namespace && metadata.labels?.[LABEL.instance] === name;
  const ownPods = observed.instancePods.filter(isOwn);
  const workloads = [...observed.deployments, ...observed.statefulSets].filter(isOwn);
  const components = COMPONENTS.flatMap((component): ComponentView[] => {
    const workload = workloads.find(({ metadata }) => metadata?.labels?.[LABEL.component] === component);
    if (workload === undefined) return [];
    const pods = ownPods.filter(({ metadata }) => metadata?.labels?.[LABEL.component] === component);
    return [{ name: component, ready: pods.filter(isPodReady).length, wanted: wantedOf(component, workload) }];
  });
  return {
    namespace,
    name,
    phase: instance.status?.phase ?? "",
    createdAt: instance.metadata?.creationTimestamp,
    components,
    selection: viewSelection(instance),
    ...(observed.gateways === undefined ? {} : { gateways: viewGateways(ownPods, observed.gateways) }),
    engines,
    waits:
      explainInstance({ instance, pods: ownPods, nowMs: observed.nowMs, clusterArgs: observed.clusterArgs }) ??
      explainDefaultEngine(instance, observed),
  };
}

/** PostgreSQL is scaled to 0 only while its catalogue is lost: that is one pod too few, not a desired state of 0. */
function wantedOf(component: string, { spec }: Pick<V1StatefulSet, "spec">): number {
  const replicas = spec?.replicas ?? 1;
  return component === "postgres" ? Math.max(1, replicas) : replicas;
}

export function byName(
  a: { readonly namespace: string; readonly name: string },
  b: { readonly namespace: string; readonly name: string },
): number {
  return a.namespace.localeCompare(b.namespace) || a.name.localeCompare(b.name);
}

/** Whether anything waits for the operator alone. */
export function waitsForOperator({ instances, strayEngines }: PlatformView): boolean {
  const engines = [...instances.flatMap((instance) => instance.engines), ...strayEngines];
  return [...instances, ...engines].some(({ waits }) => waits !== undefined && OPERATOR_ACTS_NEXT.has(waits.reason));
}

const OPERATOR_ACTS_NEXT: ReadonlySet<string> = new Set(["NotSeen", "SpecChanged", "Deleting", "AllReady"]);
