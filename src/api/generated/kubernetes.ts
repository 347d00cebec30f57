// The types of Kubernetes' own kinds, which the runtime has, under the path by which src/api and everything above it know them. Types
// only: nothing of the runtime is loaded through this file.
export type * from "@firebolt-operator/kube/kinds";
