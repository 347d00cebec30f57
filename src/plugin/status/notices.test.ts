// What stands above the status tree: the operator that does not work, and the namespace that is being deleted.
import { describe, expect, test } from "vitest";
import type { V1Deployment, V1Pod } from "../../api/generated/kubernetes.ts";
import { noticesOf, type ObservedCluster, type ObservedOperator, unreadableNotices } from "./notices.ts";

const NOW = Date.parse("2026-01-01T08:00:00Z");

const deployment = (replicas: number, readyReplicas: number): V1Deployment => ({
  metadata: { name: "op", namespace: "system" },
  spec: { replicas, selector: {}, template: {} },
  status: { readyReplicas },
});
const operator = (more: Partial<ObservedOperator> = {}): ObservedOperator => ({
  deployment: deployment(1, 1),
  namespaces: [],
  pods: [],
  lease: undefined,
  ...more,
});
const crashing: V1Pod = {
  metadata: { name: "op-1", namespace: "system" },
  status: {
    phase: "Running",
    containerStatuses: [
      {
        ...{ name: "manager", image: "op:1", imageID: "", ready: false, restartCount: 3 },
        state: { waiting: { reason: "CrashLoopBackOff" } },
        lastState: { terminated: { exitCode: 1 } },
      },
    ],
  },
};
const lease = (renewTime: string) => ({
  metadata: { name: "lease", namespace: "system" },
  spec: { renewTime, leaseDurationSeconds: 15 },
});

const notices = (
  observed: Partial<ObservedCluster>,
  { namespace = "team-a", isWaiting = true }: { namespace?: string | undefined; isWaiting?: boolean } = {},
) => noticesOf({ nowMs: NOW, operators: [], terminating: [], ...observed }, { namespace, isWaiting });

describe("the operator", () => {
  test.each<{ name: string; operators: readonly ObservedOperator[]; why: RegExp; next: RegExp }>([
    { name: "absent", operators: [], why: /no operator is installed/, next: /kubectl firebolt install/ },
    {
      name: "scaled to 0",
      operators: [operator({ deployment: deployment(0, 0) })],
      why: /operator system\/op is scaled to 0/,
      next: /^kubectl scale deployment op -n system --replicas=1$/,
    },
    {
      name: "crashing",
      operators: [operator({ deployment: deployment(1, 0), pods: [crashing] })],
      why: /has no ready pod: pod op-1: container manager crashes/,
      next: /kubectl logs op-1 -n system -c manager --previous/,
    },
    {
      name: "running, but not ready",
      operators: [operator({ deployment: deployment(1, 0), pods: [{ metadata: { name: "op-1" } }] })],
      why: /has no ready pod$/,
      next: /kubectl logs deployment\/op -n system$/,
    },
    {
      name: "without a leader",
      operators: [operator({ lease: lease("2026-01-01T07:50:00Z") })],
      why: /no leader: its lease system\/lease was last renewed 10m ago/,
      next: /kubectl logs deployment\/op -n system$/,
    },
    {
      name: "watching other namespaces",
      operators: [operator({ namespaces: ["team-b"] })],
      why: /no operator watches namespace team-a; there is system\/op \(team-b\)/,
      next: /watchNamespaces/,
    },
  ])("$name", ({ operators, why, next }) => {
    const [only, ...others] = notices({ operators });
    expect(others).toEqual([]);
    expect(only?.why).toMatch(why);
    expect(only?.next).toMatch(next);
  });

  test.each([
    { name: "at work", operators: [operator({ lease: lease("2026-01-01T07:59:55Z") })] },
    { name: "a lease that clocks disagree about", operators: [operator({ lease: lease("2026-01-01T07:59:00Z") })] },
    { name: "one of two at work", operators: [operator({ deployment: deployment(0, 0) }), operator()] },
    { name: "may not be read", operators: undefined },
  ])("$name: no notice", ({ operators }) => {
    expect(notices({ operators })).toEqual([]);
  });

  test("its absence is reported only while something waits for it", () => {
    expect(notices({ operators: [] }, { isWaiting: false })).toEqual([]);
    expect(notices({ operators: [operator({ deployment: deployment(0, 0) })] }, { isWaiting: false })).toHaveLength(1);
  });
});

test("a namespace that is being deleted, with what it waits for", () => {
  const terminating = [
    { name: "team-a", since: "2026-01-01T07:57:00Z", remaining: ["Some content has finalizers remaining"] },
  ];
  const [only] = notices({ operators: [operator()], terminating });
  expect(only?.why).toBe("namespace team-a is being deleted (for 3m): Some content has finalizers remaining");
  expect(only?.next).toContain("kubectl get fireboltengine,fireboltinstance,pod,pvc -n team-a");
  expect(notices({ operators: [operator()], terminating }, { namespace: "team-b" })).toEqual([]);
});

test("a namespace that does not exist is the only notice", () => {
  const observed = { nowMs: NOW, operators: [], terminating: [], missing: "nope" };
  expect(noticesOf(observed, { namespace: "nope", isWaiting: true })).toEqual([
    { why: "namespace nope does not exist", next: "use another one with -n: kubectl get namespaces" },
  ]);
});

test("kinds that may not be listed are named, with the missing permission", () => {
  expect(unreadableNotices(new Set())).toEqual([]);
  expect(unreadableNotices(new Set(["statefulsets", "pods"]))).toEqual([
    {
      why: "you have no permission to list pods, statefulsets: they are shown as the operator last reported them",
      next: "request a Role that allows get, list and watch on pods, statefulsets",
    },
  ]);
});
