// What keeps a container of a pod from running or from being ready. Pure; see pod-trouble.ts for what a cause must not contain.

import type { V1ContainerStateTerminated, V1ContainerStatus, V1Pod } from "../api/generated/kubernetes.ts";
import type { DeepReadonly } from "../api/values/deep-readonly.ts";
import { type Lasting, ms, transitionMs } from "./lasting.ts";
import { lastWords, stableText } from "./stable-text.ts";

type Pod = DeepReadonly<V1Pod>;
type ContainerStatus = DeepReadonly<V1ContainerStatus>;
type Terminated = DeepReadonly<V1ContainerStateTerminated>;

/** Longer than the probes of a healthy start need. */
const PROBE_GRACE_MS = 30_000;
/** Large images take minutes; a longer pull is reported. */
const PULL_GRACE_MS = 300_000;

/** States that every pod passes through. */
const PASSING: ReadonlySet<string> = new Set(["ContainerCreating", "PodInitializing"]);
const PULL =
  /^(?:ErrImagePull|ImagePullBackOff|ErrImageNeverPull|InvalidImageName|ImageInspectError|RegistryUnavailable)$/;

/** The first container in trouble, init containers before the others, as the kubelet starts them. */
export function containerTrouble(pod: Pod): Lasting | undefined {
  const { initContainerStatuses: inits = [], containerStatuses: containers = [] } = pod.status ?? {};
  for (const status of [...inits, ...containers]) {
    const found = startTrouble(status, pod);
    if (found !== undefined) return found;
  }
  for (const status of containers) {
    const found = probeTrouble(status, pod);
    if (found !== undefined) return found;
  }
  return pullingTrouble(pod, [...inits, ...containers]);
}

function startTrouble(status: ContainerStatus, pod: Pod): Lasting | undefined {
  const { name, state } = status;
  const { reason = "", message = "" } = state?.waiting ?? {};
  const at = commandTarget(pod);
  if (PULL.test(reason))
    return {
      cause: `container ${name}: image ${JSON.stringify(status.image)} cannot be pulled (${reason === "ErrImagePull" ? "ImagePullBackOff" : reason})`,
      next: `correct the image reference or the pull secrets; see the registry's response: kubectl describe pod ${at}`,
      dueMs: 0,
    };
  if (reason === "CreateContainerConfigError")
    return {
      cause: `container ${name}: ${reason}: ${stableText(message)}`,
      next: "create the Secret, ConfigMap or key that is named, or correct the reference to it",
      dueMs: 0,
    };
  const crash = crashTrouble(status, pod);
  if (crash !== undefined) return crash;
  if (reason === "" || PASSING.has(reason) || reason === "CrashLoopBackOff") return undefined;
  const words = lastWords(message);
  return {
    cause: `container ${name}: ${reason}${words === "" ? "" : `: ${words}`}`,
    next: `see the pod's events: kubectl describe pod ${at}`,
    dueMs: 0,
  };
}

/** From its first restart until it is ready, whether it waits, runs or has just exited. */
function crashTrouble(status: ContainerStatus, pod: Pod): Lasting | undefined {
  const { name, ready, restartCount, state, lastState } = status;
  const ended = state?.terminated ?? lastState?.terminated;
  const isLooping = restartCount > 0 || state?.waiting?.reason === "CrashLoopBackOff";
  if (ready || !isLooping || ended === undefined || wasReadySinceStart(status, pod) || isDone(status, pod))
    return undefined;
  return { ...describeExit(name, ended, pod), dueMs: 0 };
}

/** Readiness was lost after this run of the container began: its probe fails now, whatever ended the run before. */
function wasReadySinceStart({ state }: ContainerStatus, pod: Pod): boolean {
  const startedMs = ms(state?.running?.startedAt);
  return startedMs > 0 && transitionMs(pod, "Ready") > startedMs;
}

/** An init container that was repeated and then succeeded. */
function isDone({ name, state }: ContainerStatus, { status }: Pod): boolean {
  return state?.terminated?.exitCode === 0 && (status?.initContainerStatuses ?? []).some((one) => one.name === name);
}

function describeExit(name: string, ended: Terminated, pod: Pod): Omit<Lasting, "dueMs"> {
  const logs = `kubectl logs ${commandTarget(pod)} -c ${name} --previous`;
  if (ended.reason === "OOMKilled")
    return {
      cause: `container ${name} is killed for using more memory than its limit (OOMKilled)`,
      next: "raise resources.limits.memory of the container",
    };
  const words = lastWords(ended.message ?? "");
  const quoted = words === "" ? "" : `: ${words}`;
  if (ended.exitCode === 137 || ended.exitCode === 143)
    return {
      cause: `container ${name} is repeatedly killed (exit code ${ended.exitCode}), most likely because its startup or liveness probe fails${quoted}`,
      next: `see which probe fails: kubectl describe pod ${commandTarget(pod)}; the logs: ${logs}`,
      hasRun: true,
      container: name,
    };
  const next = /io_uring/.test(words)
    ? "the node needs Linux 6.1 or newer and memlock of at least 8 GiB for its containers"
    : `see why it exits: ${logs}`;
  return {
    cause: `container ${name} crashes (CrashLoopBackOff): exit code ${ended.exitCode}${quoted}`,
    next,
    hasRun: true,
    container: name,
  };
}

function probeTrouble({ name, ready, started, state }: ContainerStatus, pod: Pod): Lasting | undefined {
  if (ready || state?.running === undefined) return undefined;
  const startedMs = ms(state.running.startedAt);
  const at = commandTarget(pod);
  const next = `see the result of the probe: kubectl describe pod ${at}; the logs: kubectl logs ${at} -c ${name}`;
  if (started === false)
    return {
      cause: `container ${name} runs, but its startup probe fails`,
      next,
      dueMs: startedMs + PROBE_GRACE_MS,
      hasRun: true,
      container: name,
    };
  const dueMs = Math.max(startedMs, transitionMs(pod, "Ready")) + PROBE_GRACE_MS;
  return { cause: `container ${name} runs, but its readiness probe fails`, next, dueMs, hasRun: true, container: name };
}

/** Volumes and network are there, and still no container has been created: what takes so long is the image. */
function pullingTrouble(pod: Pod, statuses: readonly ContainerStatus[]): Lasting | undefined {
  const sandbox = pod.status?.conditions?.find(({ type }) => type === "PodReadyToStartContainers");
  const pulling = statuses.find(({ state }) => state?.waiting?.reason === "ContainerCreating");
  if (sandbox?.status !== "True" || pulling === undefined) return undefined;
  return {
    cause: `container ${pulling.name}: image ${JSON.stringify(pulling.image)} is still being pulled`,
    next: `wait, or see the pod's events: kubectl describe pod ${commandTarget(pod)}`,
    dueMs: ms(sandbox.lastTransitionTime) + PULL_GRACE_MS,
  };
}

function commandTarget({ metadata }: Pod): string {
  return `${metadata?.name ?? ""} -n ${metadata?.namespace ?? ""}`;
}
