// A pod's trouble as people read it: the cause, the next step, and that neither changes while the fault is the same.
import { describe, expect, test } from "vitest";
import type { V1ContainerStatus, V1PodCondition } from "../api/generated/kubernetes.ts";
import { firstTrouble, type Pod, podTrouble, troubleDueMs } from "./pod-trouble.ts";

const START = "2026-01-01T00:00:00Z";
const NOW = Date.parse(START) + 3_600_000;
const at = (seconds: number): number => Date.parse(START) + seconds * 1_000;

const condition = (type: string, status: "True" | "False", more: Partial<V1PodCondition> = {}): V1PodCondition => ({
  type,
  status,
  lastTransitionTime: START,
  ...more,
});

const container = (more: Partial<V1ContainerStatus>): V1ContainerStatus => ({
  name: "engine",
  image: "repo/engine:1",
  imageID: "",
  ready: false,
  restartCount: 0,
  ...more,
});

function pod(containerStatuses: V1ContainerStatus[], conditions = [condition("Ready", "False")], name = "e-g1-0"): Pod {
  return {
    metadata: { name, namespace: "ns" },
    status: { phase: "Running", conditions, containerStatuses },
  };
}

const causeOf = (one: Pod, nowMs = NOW): string | undefined => podTrouble(one, nowMs)?.cause;

describe("a cause stays the same through the states of one fault", () => {
  const ended = (message?: string) => ({
    terminated: { exitCode: 1, reason: "Error", ...(message === undefined ? {} : { message }) },
  });

  test("a crash loop, whether the container waits, runs or has just exited", () => {
    const states: V1ContainerStatus[] = [
      container({ restartCount: 1, state: { running: { startedAt: START } }, lastState: ended() }),
      container({ restartCount: 1, state: ended(), lastState: ended() }),
      container({
        restartCount: 2,
        state: { waiting: { reason: "CrashLoopBackOff", message: "back-off 10s restarting failed container" } },
        lastState: ended(),
      }),
      container({
        restartCount: 7,
        state: { waiting: { reason: "CrashLoopBackOff", message: "back-off 5m0s restarting failed container" } },
        lastState: ended(),
      }),
      container({ restartCount: 8, started: false, state: { running: { startedAt: START } }, lastState: ended() }),
    ];
    const found = states.map((status) => podTrouble(pod([status]), NOW));
    expect(new Set(found.map((one) => one?.cause))).toEqual(
      new Set(["container engine crashes (CrashLoopBackOff): exit code 1"]),
    );
    expect(found[0]?.next).toBe("see why it exits: kubectl logs e-g1-0 -n ns -c engine --previous");
  });

  test("an image that cannot be pulled, between two attempts and in one", () => {
    const states = [
      { reason: "ErrImagePull", message: 'failed to pull "repo/engine:1": not found' },
      { reason: "ImagePullBackOff", message: 'Back-off pulling image "repo/engine:1"' },
    ];
    const found = states.map((waiting) => podTrouble(pod([container({ state: { waiting } })]), NOW));
    expect(new Set(found.map((one) => one?.cause))).toEqual(
      new Set(['container engine: image "repo/engine:1" cannot be pulled (ImagePullBackOff)']),
    );
    expect(found[0]?.next).toMatch(
      /correct the image reference or the pull secrets.*kubectl describe pod e-g1-0 -n ns/,
    );
  });

  test("times, addresses and process ids of the last words are left out", () => {
    const words = (time: string, pid: number, address: string) =>
      causeOf(
        pod([
          container({
            restartCount: 3,
            state: { waiting: { reason: "CrashLoopBackOff" } },
            lastState: ended(`starting\n[${time}] pid=${pid} fatal: no config at ${address} after 1.25s\n`),
          }),
        ]),
      );
    const first = words("2026-01-01T10:00:00.123Z", 7, "0x7ffe01");
    expect(first).toBe("container engine crashes (CrashLoopBackOff): exit code 1: pid fatal: no config at 0x after");
    expect(words("2026-01-01 11:30:59,9", 4711, "0x7ffe99")).toBe(first);
  });

  test("the number of nodes and the order of the scheduler's reasons", () => {
    const message = (text: string) => causeOf(pod([], [condition("PodScheduled", "False", { message: text })]));
    const first = message(
      "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {a: b}. preemption: 0/3 nodes are available: 3 No preemption victims found.",
    );
    expect(first).toBe("cannot be scheduled: Insufficient cpu, node(s) had untolerated taint {a: b}");
    expect(
      message(
        "0/5 nodes are available: 2 node(s) had untolerated taint {a: b}, 3 Insufficient cpu. no new claims to deallocate, preemption: none",
      ),
    ).toBe(first);
  });
});

test("a claim that is not bound is the whole reason", () => {
  const message = "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found";
  expect(causeOf(pod([], [condition("PodScheduled", "False", { message })]))).toBe(
    "cannot be scheduled: pod has unbound immediate PersistentVolumeClaims",
  );
});

describe("the next step fits the cause", () => {
  test.each([
    ["0/1 nodes are available: 1 Insufficient cpu.", /add node capacity/],
    ["0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.", /nodeSelector or affinity/],
    ["0/2 nodes are available: 2 node(s) had untolerated taint(s).", /toleration/],
    ["pod has unbound immediate PersistentVolumeClaims", /storage class/],
    ["", /add node capacity/],
  ])("unschedulable: %s", (message, next) => {
    const found = podTrouble(pod([], [condition("PodScheduled", "False", { message })]), NOW);
    expect(found?.cause).toMatch(/^cannot be scheduled: \S/);
    expect(found?.next).toMatch(next);
  });

  const dying = (terminated: { exitCode: number; reason?: string; message?: string }) =>
    podTrouble(
      pod([
        container({ restartCount: 2, state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated } }),
      ]),
      NOW,
    );

  test.each([
    [{ exitCode: 137, reason: "OOMKilled" }, /more memory than its limit \(OOMKilled\)/, /limits\.memory/],
    [{ exitCode: 143, reason: "Error" }, /startup or liveness probe fails/, /kubectl describe pod e-g1-0 -n ns/],
    [{ exitCode: 1, message: "io_uring_register_buffers failed" }, /exit code 1: io_uring/, /Linux 6\.1/],
    [{ exitCode: 0, reason: "Completed" }, /exit code 0/, /kubectl logs e-g1-0 -n ns -c engine --previous/],
  ])("%o", (terminated, cause, next) => {
    expect(dying(terminated)?.cause).toMatch(cause);
    expect(dying(terminated)?.next).toMatch(next);
  });

  test.each([
    ["CreateContainerConfigError", 'secret "x" not found', /create the Secret/],
    ["CreateContainerError", "context deadline exceeded", /kubectl describe pod/],
    ["InvalidImageName", "couldn't parse", /image reference/],
  ])("%s", (reason, message, next) => {
    const found = podTrouble(pod([container({ state: { waiting: { reason, message } } })]), NOW);
    expect(found?.cause).toContain(reason);
    expect(found?.next).toMatch(next);
  });

  test("evicted", () => {
    const evicted: Pod = {
      metadata: { name: "e-g1-0", namespace: "ns" },
      status: { phase: "Failed", reason: "Evicted", message: "The node was low on resource: ephemeral-storage." },
    };
    expect(causeOf(evicted)).toBe("failed (Evicted): The node was low on resource: ephemeral-storage.");
  });
});

describe("what healthy pods pass through counts once it has lasted", () => {
  const running = (more: Partial<V1ContainerStatus> = {}) =>
    container({ state: { running: { startedAt: START } }, started: false, ...more });
  const sandbox = (status: "True" | "False") => [
    condition("Ready", "False"),
    condition("PodScheduled", "True"),
    condition("PodReadyToStartContainers", status),
  ];
  const creating = container({ state: { waiting: { reason: "ContainerCreating" } } });

  test.each<[string, Pod, number, RegExp]>([
    ["startup probe", pod([running()]), 30, /runs, but its startup probe fails/],
    ["readiness probe", pod([running({ started: true })]), 30, /runs, but its readiness probe fails/],
    ["scheduling", pod([], [condition("PodScheduled", "False", { message: "x" })]), 3, /cannot be scheduled/],
    ["volumes", pod([creating], sandbox("False")), 30, /volumes or its network cannot be set up/],
    ["pulling", pod([creating], sandbox("True")), 300, /is still being pulled/],
    ["node", pod([running({ started: true, ready: true })]), 10, /its node does not respond/],
  ])("%s", (_, one, seconds, cause) => {
    expect(causeOf(one, at(seconds) - 1)).toBeUndefined();
    expect(troubleDueMs(one, at(seconds) - 1)).toBe(at(seconds));
    expect(causeOf(one, at(seconds))).toMatch(cause);
    expect(troubleDueMs(one, at(seconds))).toBeUndefined();
  });

  test("a crash of long ago does not explain a readiness probe that fails now", () => {
    const recovered = container({
      restartCount: 1,
      started: true,
      state: { running: { startedAt: START } },
      lastState: { terminated: { exitCode: 1 } },
    });
    const lost = condition("Ready", "False", { lastTransitionTime: new Date(at(600)).toISOString() });
    expect(causeOf(pod([recovered], [lost]))).toMatch(/readiness probe fails/);
  });

  test("ready pods, pods that are being deleted, and pods of which nothing is known are in no trouble", () => {
    expect(causeOf(pod([running({ ready: true })], [condition("Ready", "True")]))).toBeUndefined();
    const leaving = pod([running()]);
    expect(causeOf({ ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: START } })).toBeUndefined();
    expect(causeOf({ metadata: { name: "new" } })).toBeUndefined();
  });
});

test("whatever a status holds is plain and bounded in the cause", () => {
  const evil = "Evil\u001b[2J\nsecond\u202e ".repeat(2_000);
  const terminated = { exitCode: 1, message: evil };
  const pods: Pod[] = [
    { metadata: { name: "e-g1-0", namespace: "ns" }, status: { phase: "Failed", reason: evil, message: evil } },
    pod([container({ image: evil, state: { waiting: { reason: "ErrImagePull", message: evil } } })]),
    pod([container({ state: { waiting: { reason: evil, message: evil } } })]),
    pod([container({ restartCount: 1, lastState: { terminated } })]),
    pod([], [condition("PodScheduled", "False", { message: evil })]),
  ];
  for (const one of pods) {
    const found = podTrouble(one, NOW);
    expect(found?.cause).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    expect(`${found?.cause}${found?.next}`.length).toBeLessThan(900);
  }
});

test("of several pods the first by number, whatever their order", () => {
  const crashing = container({ restartCount: 1, lastState: { terminated: { exitCode: 1 } } });
  const pods = ["e-g1-10", "e-g1-2", "e-g1-9"].map((name) => pod([crashing], undefined, name));
  expect(firstTrouble(pods, NOW)?.pod).toBe("e-g1-2");
  expect(firstTrouble([...pods].reverse(), NOW)?.pod).toBe("e-g1-2");
  expect(firstTrouble([], NOW)).toBeUndefined();
});
