// Normal forms of label selectors, affinity, spreading and tolerations. The API server adds no defaults here; it only
// drops empty values.
import type {
  V1Affinity,
  V1LabelSelector,
  V1LabelSelectorRequirement,
  V1NodeAffinity,
  V1NodeSelector,
  V1NodeSelectorRequirement,
  V1NodeSelectorTerm,
  V1PodAffinity,
  V1PodAffinityTerm,
  V1PreferredSchedulingTerm,
  V1Toleration,
  V1TopologySpreadConstraint,
  V1WeightedPodAffinityTerm,
} from "../../api/generated/kubernetes.ts";
import { embedded, type FieldShapes, listOf, object, pointer, scalar, scalars, texts } from "./shape.ts";

/** Absent selects nothing, `{}` selects everything: the difference is kept. */
export const labelSelector = object<V1LabelSelector>({
  matchExpressions: listOf(object<V1LabelSelectorRequirement>({ key: scalar, operator: scalar, values: scalars })),
  matchLabels: texts,
});

const nodeRequirements = listOf(object<V1NodeSelectorRequirement>({ key: scalar, operator: scalar, values: scalars }));
const NODE_TERM: FieldShapes<V1NodeSelectorTerm> = {
  matchExpressions: nodeRequirements,
  matchFields: nodeRequirements,
};

const POD_TERM: FieldShapes<V1PodAffinityTerm> = {
  labelSelector,
  matchLabelKeys: scalars,
  mismatchLabelKeys: scalars,
  namespaceSelector: labelSelector,
  namespaces: scalars,
  topologyKey: scalar,
};

const podAffinity = object<V1PodAffinity>({
  preferredDuringSchedulingIgnoredDuringExecution: listOf(
    object<V1WeightedPodAffinityTerm>({ podAffinityTerm: embedded(POD_TERM), weight: scalar }),
  ),
  requiredDuringSchedulingIgnoredDuringExecution: listOf(object(POD_TERM)),
});

export const affinity = object<V1Affinity>({
  nodeAffinity: object<V1NodeAffinity>({
    preferredDuringSchedulingIgnoredDuringExecution: listOf(
      object<V1PreferredSchedulingTerm>({ preference: embedded(NODE_TERM), weight: scalar }),
    ),
    requiredDuringSchedulingIgnoredDuringExecution: object<V1NodeSelector>({
      nodeSelectorTerms: listOf(object(NODE_TERM)),
    }),
  }),
  podAffinity,
  podAntiAffinity: podAffinity,
});

export const tolerations = listOf(
  object<V1Toleration>({
    effect: scalar,
    key: scalar,
    operator: scalar,
    tolerationSeconds: pointer,
    value: scalar,
  }),
);

export const topologySpreadConstraints = listOf(
  object<V1TopologySpreadConstraint>({
    labelSelector,
    matchLabelKeys: scalars,
    maxSkew: scalar,
    minDomains: pointer,
    nodeAffinityPolicy: pointer,
    nodeTaintsPolicy: pointer,
    topologyKey: scalar,
    whenUnsatisfiable: scalar,
  }),
);
