// The routing Service as a fact: whose it is and which generation it selects. Pure; used by observe, by the sweep's
// confirmed view and by compute.
import { LABEL } from "../../api/labels.ts";
import { parseGeneration, type Service, viewChild } from "./children.ts";
import type { EngineIdentity } from "./names.ts";
import type { Routing } from "./snapshot.ts";

export function viewRouting(service: Service | undefined, engine: EngineIdentity): Routing {
  const child = viewChild(service, engine.uid);
  if (child.type === "absent") return child;
  return { type: child.type, service: child.object, target: routingTarget(child.object, engine.name) };
}

/** The generation a Service of the engine selects; -1 for any selector that the operator would not have written. */
export function routingTarget(service: Service, engineName: string): number {
  const selector = service.spec?.selector ?? {};
  const exact = Object.keys(selector).length === 2 && selector[LABEL.engine] === engineName;
  return exact ? (parseGeneration(selector[LABEL.generation]) ?? -1) : -1;
}
