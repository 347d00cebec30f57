// Whether a generation's StatefulSet is the one that the spec requests, and if not, the first reason why.
import type { V1StatefulSet } from "../../api/generated/kubernetes.ts";
import { ANNOTATION } from "../../api/labels.ts";
import { findDrift } from "../drift/find-drift.ts";
import type { Child, StatefulSet } from "../model/children.ts";
import type { Cause } from "../model/decision.ts";

export function mismatch(child: Child<StatefulSet>, wanted: V1StatefulSet): Cause | undefined {
  switch (child.type) {
    case "absent":
      return { path: "statefulSet", live: "absent", wanted: "present" };
    case "foreign":
      return { path: "metadata.ownerReferences", live: "another owner", wanted: "this engine" };
    case "terminating":
      return {
        path: "metadata.deletionTimestamp",
        live: child.object.metadata?.deletionTimestamp ?? "",
        wanted: "unset",
      };
    case "live":
      return withClass(findDrift(child.object, wanted), child.object, wanted);
    default:
      return child satisfies never;
  }
}

/** The field that differs may be one that is unchanged on the engine: then its class was edited. */
function withClass(drift: Cause | undefined, live: StatefulSet, wanted: V1StatefulSet): Cause | undefined {
  const [before, after] = [live, wanted].map(({ metadata }) => metadata?.annotations?.[ANNOTATION.engineClassHash]);
  return drift === undefined || before === after ? drift : { ...drift, classChanged: true };
}
