// The Kubernetes kinds that an engine is made of.
export {
  ConfigMap as configMaps,
  // Read only, and never watched.
  CoreEvent as coreEvents,
  Pod as pods,
  Service as services,
  StatefulSet as statefulSets,
} from "@firebolt-operator/kube/kinds";
