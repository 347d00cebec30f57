// Next steps that a reason alone does not decide: by the words of the API server that a message quotes, by the pods,
// and by whether an instance exists. Commands work as they are printed. Pure.
import { ENGINE_CONTRACT } from "../../api/engine-contract.ts";
import { ownCommand, type Where } from "../own-command.ts";
import type { PodProblem } from "./pod-problem.ts";

export const IS_OPERATOR_THERE =
  "check that the operator runs and watches this namespace: kubectl get deployments -A -l control-plane=controller-manager";

/** Only the log of the metadata service shows that PostgreSQL rejects its password. */
export function podRemedy(problem: PodProblem | undefined, condition: string | undefined): string | undefined {
  if (problem?.next === undefined || condition !== "MetadataReady") return problem?.next;
  const { hasRun, container } = problem.trouble ?? {};
  return hasRun === true && container === "metadata"
    ? `${problem.next}; if PostgreSQL rejects the password there, restore it in the Secret or set it in the database (ALTER ROLE)`
    : problem.next;
}

/** Where to change what rejected an object, by the API server's words; undefined if they do not identify it. */
export function rejectionRemedy(message: string, namespace: string): string | undefined {
  if (/exceeded quota/.test(message))
    return `raise the quota or request less: kubectl describe resourcequota -n ${namespace}`;
  if (/(?:maximum|minimum) \S+ usage per|max limit to request ratio|LimitRange/.test(message))
    return `request what the limit range allows, or change it: kubectl describe limitrange -n ${namespace}`;
  if (/PodSecurity/.test(message))
    return `change the pod template, or the level of the namespace: kubectl get namespace ${namespace} --show-labels`;
  if (/is forbidden: User|cannot (?:create|patch|update|delete|get|list|watch) resource/.test(message))
    return "grant the operator the permission named: upgrade its Helm release; it retries automatically";
  if (/failed calling webhook|failed to call webhook/.test(message))
    return "make the webhook named reachable again, or delete its configuration: kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations";
  return undefined;
}

/** An instance that does not exist has no status. */
export function instanceStep(state: "found" | "missing" | "unknown", instance: string, where: Where): string {
  const status = ownCommand(where, ["instance", "status", instance]);
  if (state === "found") return `see what it waits for: ${status}`;
  if (state === "unknown") return `see what it waits for, or create it if it does not exist: ${status}`;
  return `create it, or delete the engine and create it again with the right spec.instanceRef, which is immutable. List the instances: ${ownCommand(where, ["instance", "list"])}`;
}

/**
 * For drain checks that fail; undefined otherwise. Where it is not recorded whether the check was rejected, an older operator or
 * CRD may be the reason: the permission comes first, and nothing that terminates queries.
 */
export function drainRemedy(reason: string, isForbidden: boolean): string | undefined {
  if (reason !== "DrainCheckFailing") return undefined;
  return isForbidden ? ALLOW_PROXY : `if the check is forbidden, ${ALLOW_PROXY}; otherwise ${RESPOND}`;
}

const ALLOW_PROXY =
  "allow the operator to get pods/proxy (chart value rbac.apiserverProxyGrant), or set metricScrapeMode: PodIP on the instance";
const RESPOND = `make the pod respond on port ${ENGINE_CONTRACT.ports.metrics} again, or delete the pod`;
