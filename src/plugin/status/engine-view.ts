// One engine with its generations and pods, as data. Pure: built from what observe-platform.ts has read.
import { findCondition } from "../../api/condition-list.ts";
import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { V1Pod } from "../../api/generated/kubernetes.ts";
import { LABEL } from "../../api/labels.ts";
import type { Condition } from "../../api/schema/condition.ts";
import { generationLabel } from "../../engine/model/children.ts";
import { routingServiceName } from "../../engine/model/names.ts";
import { routingTarget } from "../../engine/model/routing.ts";
import { isPodReady } from "../../pods/pod-trouble.ts";
import { nameOf, namespaceOf } from "../cluster/find-object.ts";
import { type EngineFacts, type Explanation, explainEngine } from "./explain.ts";
import type { GenerationRole, GenerationView, PodView } from "./generation-view.ts";
import type { ObservedPlatform } from "./observe-platform.ts";
import { podProblem } from "./pod-problem.ts";

export interface EngineView {
  readonly namespace: string;
  readonly name: string;
  readonly instance: string;
  readonly engineClass: string | undefined;
  readonly replicas: number;
  readonly phase: string;
  readonly ready: Readonly<Condition> | undefined;
  readonly createdAt: string | undefined;
  /** The newest spec has been confirmed as running. */
  readonly upToDate: boolean;
  readonly autoStopReason: string | undefined;
  readonly generations: readonly GenerationView[];
  readonly waits: Explanation | undefined;
}

export function viewEngine(engine: FireboltEngine, observed: ObservedPlatform): EngineView {
  const { metadata, spec, status } = engine;
  const [namespace, name] = [namespaceOf(engine), nameOf(engine)];
  const generations = viewGenerations(engine, observed);
  const ownPods = observed.enginePods.filter((pod) => isOf(pod, engine));
  return {
    namespace,
    name,
    instance: spec?.instanceRef ?? "",
    engineClass: spec?.engineClassRef,
    replicas: spec?.replicas ?? 0,
    phase: status?.phase ?? "",
    ready: findCondition(status?.conditions, "Ready"),
    createdAt: metadata?.creationTimestamp,
    upToDate: status?.observedGeneration === metadata?.generation,
    autoStopReason: status?.autoStopReason,
    generations,
    waits: explainEngine({
      engine,
      generations,
      pods: ownPods,
      instance: instanceOf(engine, observed),
      nowMs: observed.nowMs,
      clusterArgs: observed.clusterArgs,
    }),
  };
}

function instanceOf(engine: FireboltEngine, observed: ObservedPlatform): EngineFacts["instance"] {
  const { instances, unreadable, isWithoutInstances = false } = observed;
  if (isWithoutInstances || unreadable?.has(FireboltInstance.plural) === true) return "unknown";
  const isFound = instances.some(
    (one) => namespaceOf(one) === namespaceOf(engine) && nameOf(one) === engine.spec?.instanceRef,
  );
  return isFound ? "found" : "missing";
}

function viewGenerations(engine: FireboltEngine, observed: ObservedPlatform): readonly GenerationView[] {
  const { statefulSets, services, enginePods, queries, unreadable = new Set() } = observed;
  const { status, spec } = engine;
  const sets = statefulSets.filter((set) => isOf(set, engine));
  const ownPods = enginePods.filter((pod) => isOf(pod, engine));
  const service = services.find((one) => isOf(one, engine) && nameOf(one) === routingServiceName(nameOf(engine)));
  // Objects that may not be read are shown as the operator last reported them.
  const reported = unreadable.has("services") ? (status?.activeGeneration ?? -1) : -1;
  const target = service === undefined ? reported : routingTarget(service, nameOf(engine));
  const isReady = findCondition(status?.conditions, "Ready")?.status === "True";
  const assumedReady = unreadable.has("pods") && isReady ? (spec?.replicas ?? 0) : 0;
  const assumedWanted = unreadable.has("statefulsets") ? (spec?.replicas ?? 0) : 0;
  const known = unreadable.has("statefulsets") && status !== undefined ? [status.activeGeneration] : [];
  const labelled = [...sets, ...ownPods].flatMap(({ metadata }) => generationLabel(metadata) ?? []);
  const numbers = new Set([...labelled, ...known.filter((generation) => generation >= 0)]);
  return [...numbers]
    .sort((a, b) => b - a)
    .map((generation) => {
      const set = sets.find(({ metadata }) => generationLabel(metadata) === generation);
      const members = ownPods
        .filter(({ metadata }) => generationLabel(metadata) === generation)
        .sort((a, b) => nameOf(a).localeCompare(nameOf(b), "en", { numeric: true }));
      return {
        generation,
        role: roleOf(engine, generation),
        serves: generation === target,
        wanted: set?.spec?.replicas ?? assumedWanted,
        ready:
          generation === status?.activeGeneration && assumedReady > 0
            ? assumedReady
            : members.filter(isPodReady).length,
        createdAt: set?.metadata?.creationTimestamp ?? members[0]?.metadata?.creationTimestamp,
        pods: members.map((pod) => viewPod(pod, queries, observed.nowMs)),
      };
    });
}

function roleOf({ status }: FireboltEngine, generation: number): GenerationRole {
  if (generation === status?.drainingGeneration) return "draining";
  if (generation === status?.activeGeneration) return "active";
  return generation === status?.currentGeneration ? "starting" : "superseded";
}

function viewPod(pod: V1Pod, queries: ObservedPlatform["queries"], nowMs: number): PodView {
  const restarts = (pod.status?.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0);
  return {
    name: nameOf(pod),
    phase: pod.metadata?.deletionTimestamp === undefined ? (pod.status?.phase ?? "") : "Terminating",
    ready: isPodReady(pod),
    node: pod.spec?.nodeName,
    restarts,
    createdAt: pod.metadata?.creationTimestamp,
    problem: podProblem(pod, nowMs)?.text,
    queries: queries.get(`${namespaceOf(pod)}/${nameOf(pod)}`),
  };
}

function isOf({ metadata }: Pick<V1Pod, "metadata">, engine: FireboltEngine): boolean {
  return metadata?.namespace === namespaceOf(engine) && metadata.labels?.[LABEL.engine] === nameOf(engine);
}
