// How clients may name an engine at the gateway of an instance besides header and parameter, and whether the default
// engine can serve them. Pure.
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { nameOf, namespaceOf } from "../cluster/find-object.ts";
import { ownCommand } from "../own-command.ts";
import type { Explanation } from "./explain.ts";
import type { ObservedPlatform } from "./observe-platform.ts";

/** The fields of `spec.gateway`; empty where they are unset. */
export interface SelectionView {
  readonly defaultEngine: string;
  readonly hostDomains: readonly string[];
}

export function viewSelection({ spec }: FireboltInstance): SelectionView {
  return { defaultEngine: spec.gateway.defaultEngine ?? "", hostDomains: spec.gateway.hostDomains ?? [] };
}

export function selectionText({ defaultEngine, hostDomains }: SelectionView): readonly string[] {
  return [
    ...(defaultEngine === "" ? [] : [`default engine ${defaultEngine}`]),
    ...(hostDomains.length === 0 ? [] : [`hosts ${hostDomains.map((domain) => `<engine>.${domain}`).join(", ")}`]),
  ];
}

/** Why queries that name no engine fail; undefined when they are served, or wake the engine. */
export function explainDefaultEngine(
  instance: FireboltInstance,
  { engines, unreadable, clusterArgs }: Pick<ObservedPlatform, "engines" | "unreadable" | "clusterArgs">,
): Explanation | undefined {
  const { defaultEngine: name } = viewSelection(instance);
  const namespace = namespaceOf(instance);
  if (name === "" || unreadable?.has(FireboltEngine.plural) === true) return undefined;
  const where = { namespace, clusterArgs };
  const engine = engines.find((one) => nameOf(one) === name && namespaceOf(one) === namespace);
  if (engine === undefined)
    return {
      reason: "DefaultEngineMissing",
      why: `there is no engine ${name}, the default engine of its gateway: queries that name no engine fail`,
      next: `create it (${ownCommand(where, ["engine", "create", name])}), or correct spec.gateway.defaultEngine of instance ${nameOf(instance)}`,
    };
  if (isStoppedForGood(engine))
    return {
      reason: "DefaultEngineStopped",
      why: `engine ${name}, the default engine of its gateway, is stopped, and no query starts it because auto-stop is off: queries that name no engine get 503`,
      next: `start it: ${ownCommand(where, ["start", name])}`,
    };
  return undefined;
}

const isStoppedForGood = ({ spec, status }: FireboltEngine): boolean =>
  status?.phase === "stopped" && spec?.replicas === 0 && spec.autoStop?.enabled !== true;
