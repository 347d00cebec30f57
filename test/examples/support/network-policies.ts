// What a set of NetworkPolicies allows, worked out from their text as the Kubernetes API defines it: isolation by direction, rules that
// add up, peers by label. For policies that no test cluster enforces. Knows no ranges of ports and no named ports.
import type { DeepReadonly } from "../../../src/api/values/deep-readonly.ts";
import type { ExampleObject } from "../../harness/fixtures/example-files.ts";

type Labels = Readonly<Record<string, string>>;

interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}
interface Peer {
  namespaceSelector?: LabelSelector;
  podSelector?: LabelSelector;
}
interface Rule {
  ports?: { protocol?: string; port: number }[];
  from?: Peer[];
  to?: Peer[];
}
interface Policy {
  metadata: { name: string; namespace?: string };
  spec: { podSelector: LabelSelector; policyTypes: ("Ingress" | "Egress")[]; ingress?: Rule[]; egress?: Rule[] };
}
export type NetworkPolicy = DeepReadonly<Policy>;

/** An object that the API server takes as a NetworkPolicy has the fields of one. */
export function isNetworkPolicy(object: ExampleObject): object is ExampleObject & NetworkPolicy {
  return object.kind === "NetworkPolicy" && "spec" in object;
}

/** One end of a connection. Nodes, the API server and the world outside are no pods: labels cannot name them. */
export type End =
  | { readonly type: "pod"; readonly namespace: string; readonly labels: Labels }
  | { readonly type: "outside" };

export interface Flow {
  readonly from: End;
  readonly to: End;
  readonly port: number;
  readonly protocol?: "TCP" | "UDP";
}

export function isAllowed(policies: readonly NetworkPolicy[], flow: Flow): boolean {
  return passes(policies, flow, "Egress") && passes(policies, flow, "Ingress");
}

/** A pod that no policy of this direction selects is open; otherwise one rule of one of them must let the flow through. */
function passes(policies: readonly NetworkPolicy[], flow: Flow, direction: "Ingress" | "Egress"): boolean {
  const [subject, other] = direction === "Egress" ? [flow.from, flow.to] : [flow.to, flow.from];
  if (subject.type === "outside") return true;
  const isolating = policies.filter(
    ({ metadata, spec }) =>
      metadata.namespace === subject.namespace &&
      spec.policyTypes.includes(direction) &&
      matches(spec.podSelector, subject.labels),
  );
  if (isolating.length === 0) return true;
  return isolating.some(({ spec }) =>
    (direction === "Egress" ? spec.egress : spec.ingress)?.some(
      (rule) =>
        hasPort(rule, flow) &&
        hasPeer(direction === "Egress" ? rule.to : rule.from, { end: other, home: subject.namespace }),
    ),
  );
}

/** No list means every port. */
function hasPort({ ports }: DeepReadonly<Rule>, { port, protocol = "TCP" }: Flow): boolean {
  return ports === undefined || ports.some((entry) => entry.port === port && (entry.protocol ?? "TCP") === protocol);
}

/** No list means every peer. A peer without a namespace selector is a pod of the policy's own namespace. */
function hasPeer(
  peers: readonly DeepReadonly<Peer>[] | undefined,
  { end, home }: { readonly end: End; readonly home: string },
): boolean {
  if (peers === undefined) return true;
  if (end.type === "outside") return false;
  const namespace = { "kubernetes.io/metadata.name": end.namespace };
  return peers.some(
    ({ namespaceSelector, podSelector }) =>
      (namespaceSelector === undefined ? end.namespace === home : matches(namespaceSelector, namespace)) &&
      (podSelector === undefined || matches(podSelector, end.labels)),
  );
}

function matches({ matchLabels = {}, matchExpressions = [] }: DeepReadonly<LabelSelector>, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator }) => {
      if (operator !== "Exists") throw new Error(`operator ${operator} is not known here: add it`);
      return Object.hasOwn(labels, key);
    })
  );
}
