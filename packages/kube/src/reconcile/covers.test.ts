import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CoverRules, covers } from "./covers.ts";

const ALL: CoverRules = { ignoredAdditions: "all", emptyIsAbsent: true };

describe("by default", () => {
  test.each([
    { name: "an equal object", live: { a: 1 }, wanted: { a: 1 }, want: true },
    { name: "a field of another writer", live: { a: 1, b: 2 }, wanted: { a: 1 }, want: true },
    { name: "another value", live: { a: 2 }, wanted: { a: 1 }, want: false },
    { name: "a missing field", live: {}, wanted: { a: 1 }, want: false },
    { name: "an undefined field that was not rendered", live: {}, wanted: { a: undefined }, want: true },
    { name: "a nested change", live: { a: { b: 2 } }, wanted: { a: { b: 1 } }, want: false },
    { name: "a missing object", live: {}, wanted: { emptyDir: {} }, want: false },
    { name: "a longer list", live: { args: ["a", "b"] }, wanted: { args: ["a"] }, want: false },
    { name: "a reordered list", live: { args: ["b", "a"] }, wanted: { args: ["a", "b"] }, want: false },
    { name: "an empty list that is not stored", live: {}, wanted: { args: [] }, want: true },
  ])("$name: $want", ({ live, wanted, want }) => expect(covers({ live, wanted })).toBe(want));

  test("only rendered fields are compared, in their normal form", () => {
    const rendered = { cpu: "1000m" };
    expect(covers({ live: { cpu: 1, memory: 2 }, wanted: { cpu: 1, memory: 3 }, rendered })).toBe(true);
    expect(covers({ live: { cpu: 2, memory: 3 }, wanted: { cpu: 1, memory: 3 }, rendered })).toBe(false);
  });
});

const inPod = (spec: object) => ({ spec: { template: { spec } } });
const inContainer = (container: object) => inPod({ containers: [{ name: "main", ...container }] });

describe("additions by others are ignored where server-side apply merges", () => {
  test.each([
    {
      name: "a container beside ours, in another order",
      kind: "Deployment",
      live: inPod({ containers: [{ name: "sidecar" }, { name: "main", image: "i", tty: true }] }),
      wanted: inPod({ containers: [{ name: "main", image: "i" }] }),
    },
    {
      name: "a port of a container, by number and protocol",
      kind: "StatefulSet",
      live: inContainer({
        ports: [
          { containerPort: 80, protocol: "UDP" },
          { containerPort: 80, protocol: "TCP", name: "a" },
        ],
      }),
      wanted: inContainer({ ports: [{ containerPort: 80, protocol: "TCP", name: "a" }] }),
    },
    {
      name: "a port of a Service, and fields of its ports",
      kind: "Service",
      live: {
        spec: {
          ports: [
            { port: 81, protocol: "TCP" },
            { port: 80, protocol: "TCP", nodePort: 30_000 },
          ],
        },
      },
      wanted: { spec: { ports: [{ port: 80, protocol: "TCP" }] } },
    },
    {
      name: "what the API server fills into an immutable list",
      kind: "StatefulSet",
      live: { spec: { volumeClaimTemplates: [{ metadata: { name: "data" }, status: { phase: "Pending" } }] } },
      wanted: { spec: { volumeClaimTemplates: [{ metadata: { name: "data" } }] } },
    },
    {
      name: "what a webhook added to an immutable selector",
      kind: "Deployment",
      live: { spec: { selector: { matchLabels: { a: "b", c: "d" } } } },
      wanted: { spec: { selector: { matchLabels: { a: "b" } } } },
    },
  ])("$name", ({ live, wanted, kind }) => {
    expect(covers({ live, wanted, kind })).toBe(true);
    expect(covers({ live: { ...live, kind }, wanted: { ...wanted, kind } })).toBe(true);
  });

  test.each([
    { name: "another image of our container", live: { image: "j" } },
    { name: "no image", live: {} },
  ])("a change is none: $name", ({ live }) => {
    expect(covers({ live: inContainer(live), wanted: inContainer({ image: "i" }), kind: "Deployment" })).toBe(false);
  });
});

describe("an addition counts where server-side apply replaces the whole", () => {
  const rule = { apiGroups: [""], resources: ["pods"], verbs: ["get"] };
  const port = { port: 80, protocol: "TCP" };
  const selector = { matchLabels: { a: "b" } };
  const toleration = { key: "spot", operator: "Exists" };
  test.each([
    {
      name: "a field of a Role's rule",
      kind: "Role",
      wanted: { rules: [rule] },
      live: { rules: [{ ...rule, resourceNames: ["a"] }] },
    },
    {
      name: "a further rule",
      kind: "Role",
      wanted: { rules: [rule] },
      live: { rules: [rule, { ...rule, verbs: ["*"] }] },
    },
    {
      name: "expressions of a budget's selector",
      kind: "PodDisruptionBudget",
      wanted: { spec: { selector } },
      live: { spec: { selector: { ...selector, matchExpressions: [{ key: "x", operator: "Exists" }] } } },
    },
    {
      name: "a label of a Service's selector",
      kind: "Service",
      wanted: { spec: { selector: { a: "b" } } },
      live: { spec: { selector: { a: "b", c: "d" } } },
    },
    ...[
      { name: "an end port", ingress: [{ ports: [{ ...port, endPort: 90 }] }] },
      { name: "a further port", ingress: [{ ports: [port, { port: 81, protocol: "TCP" }] }] },
      { name: "sources", ingress: [{ ports: [port], from: [{ podSelector: {} }] }] },
    ].map(({ name, ingress }) => ({
      name: `${name} of a NetworkPolicy, whose ports are no keyed list`,
      kind: "NetworkPolicy",
      wanted: { spec: { ingress: [{ ports: [port] }] } },
      live: { spec: { ingress } },
    })),
    {
      name: "a field of a toleration",
      kind: "Deployment",
      wanted: inPod({ tolerations: [toleration] }),
      live: inPod({ tolerations: [{ ...toleration, effect: "NoExecute" }] }),
    },
    {
      name: "a field of a reference to a Secret",
      kind: "StatefulSet",
      wanted: inContainer({ env: [{ name: "A", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }] }),
      live: inContainer({ env: [{ name: "A", valueFrom: { secretKeyRef: { name: "s", key: "k", optional: true } } }] }),
    },
    {
      name: "a label of a node selector",
      kind: "Deployment",
      wanted: inPod({ nodeSelector: { a: "b" } }),
      live: inPod({ nodeSelector: { a: "b", c: "d" } }),
    },
    {
      name: "a field of an entry of a list that has a keyed name in another kind",
      kind: "ConfigMap",
      wanted: { containers: [{ name: "main" }] },
      live: { containers: [{ name: "main", image: "i" }] },
    },
  ])("$name", ({ live, wanted, kind }) => {
    expect(covers({ live, wanted, kind })).toBe(false);
    expect(covers({ live: wanted, wanted, kind })).toBe(true);
    expect(covers({ live, wanted, kind }, ALL)).toBe(true);
  });

  test("null and empty lists are no additions", () => {
    const live = { rules: [{ ...rule, resourceNames: [], nonResourceURLs: null }] };
    expect(covers({ live, wanted: { rules: [rule] }, kind: "Role" })).toBe(true);
  });
});

describe("with all additions and empty values ignored", () => {
  test.each([
    {
      name: "a list with more entries, in another order",
      live: { l: ["c", "b", "a"] },
      wanted: { l: ["a", "b"] },
      want: true,
    },
    { name: "a list without an entry", live: { l: ["a"] }, wanted: { l: ["a", "b"] }, want: false },
    { name: "false and absent", live: {}, wanted: { a: false, b: "", c: 0 }, want: true },
    { name: "true for false", live: { a: true }, wanted: { a: false }, want: false },
    { name: "an empty object and any object", live: { a: { b: 1 } }, wanted: { a: {} }, want: true },
    { name: "null, undefined and anything", live: { a: 1, b: 1 }, wanted: { a: null, b: undefined }, want: true },
    {
      name: "additions in objects, lists and their entries",
      live: { a: 1, extra: true, list: [{ n: 1, more: 2 }, { n: 2 }] },
      wanted: { a: 1, list: [{ n: 1 }] },
      want: true,
    },
    { name: "another value", live: { a: 2 }, wanted: { a: 1 }, want: false },
    { name: "a missing field", live: {}, wanted: { a: 1 }, want: false },
    { name: "another shape", live: { a: [1] }, wanted: { a: { b: 1 } }, want: false },
    { name: "nothing at all", live: undefined, wanted: { a: 1 }, want: false },
  ])("$name: $want", ({ live, wanted, want }) => expect(covers({ live, wanted }, ALL)).toBe(want));
});

test.each([
  { name: "the default rules", rules: {} },
  { name: "all additions ignored", rules: ALL },
])("with $name every object covers itself, also with further fields", ({ rules }) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(covers({ live: value, wanted: value }, rules)).toBe(true);
      expect(covers({ live: { inner: value, more: 1 }, wanted: { inner: value } }, rules)).toBe(true);
    }),
  );
});
