// The next step for each cause that a condition names: a command that works as it is printed, or what to change. Pure.
import type { findCondition } from "../../api/condition-list.ts";
import type { FireboltInstance } from "../../api/instance.ts";
import { splitNextStep } from "../../api/next-step.ts";
import { nameOf, namespaceOf } from "../find-object.ts";
import { ownCommand, type Where } from "../own-command.ts";
import type { PodProblem } from "./pod-problem.ts";

export const IS_OPERATOR_THERE =
  "check that the operator runs and watches this namespace: kubectl get deployments -A -l control-plane=controller-manager";

type Cause = ReturnType<typeof findCondition>;

/** For conditions whose remedy is not in the pods. */
export function instanceRemedy(condition: Cause, instance: FireboltInstance): string | undefined {
  const at = `${nameOf(instance)} -n ${namespaceOf(instance)}`;
  const own = splitNextStep(condition?.message ?? "").next;
  if (own !== undefined) return own;
  switch (condition?.reason) {
    case "DeletionBlocked":
      return `delete its engines, or delete the instance under them, which leaves them running without metadata; either way the catalogue of a built-in PostgreSQL is deleted with the instance, unless spec.metadata.builtInPostgres.volumeRetention is Retain, which can still be set: kubectl annotate fireboltinstance ${at} --overwrite firebolt.io/delete-despite-engines=true`;
    case "CatalogueLost":
      return catalogueRemedy(condition.message, at);
    case "ReconcileFailed":
    case "EnsureFailed":
    case "PostgresEnsureFailed":
    case "TemplateRejected":
      return refusalRemedy(condition.message, namespaceOf(instance));
    default:
      return undefined;
  }
}

/** The commands of the message itself: which one is right depends on whether the catalogue is still there. */
function catalogueRemedy(message: string, at: string): string {
  const dump = /kubectl exec [^;]*pg_dump[^;]*/.exec(message)?.[0];
  if (dump !== undefined) return `save the catalogue while it is there: ${dump.trim()}`;
  const accept = message
    .match(/kubectl annotate fireboltinstance \S+ -n \S+ (?:--overwrite )?firebolt\.io\/accept-empty-catalogue=[\w-]+/g)
    ?.at(-1);
  // A consent names a claim, and nothing but the message knows which.
  if (accept === undefined)
    return `restore the catalogue from a backup; how to go on without: kubectl describe fireboltinstance ${at}`;
  return `restore the catalogue from a backup; to go on with the claim that is there, or with an empty one: ${accept}`;
}

/** PostgreSQL rejects a password in the metadata service's log, nowhere else. */
export function podRemedy(problem: PodProblem | undefined, condition: string | undefined): string | undefined {
  if (problem?.next === undefined || condition !== "MetadataReady") return problem?.next;
  const runs = /container metadata/.test(problem.text) && /probe|crashes|killed/.test(problem.text);
  return runs
    ? `${problem.next}; if PostgreSQL rejects the password there, restore it in the Secret or set it in the database (ALTER ROLE)`
    : problem.next;
}

/** The API server's own words name what refused an object; this is where that is changed. */
export function refusalRemedy(message: string, namespace: string): string {
  if (/exceeded quota/.test(message))
    return `raise the quota or request less: kubectl describe resourcequota -n ${namespace}`;
  if (/(?:maximum|minimum) \S+ usage per|max limit to request ratio|LimitRange/.test(message))
    return `request what the limit range allows, or change it: kubectl describe limitrange -n ${namespace}`;
  if (/PodSecurity/.test(message))
    return `change the pod template, or the level of the namespace: kubectl get namespace ${namespace} --show-labels`;
  if (/is forbidden: User|cannot (?:create|patch|update|delete|get|list|watch) resource/.test(message))
    return "grant the operator the permission named: upgrade its Helm release; it retries by itself";
  if (/failed calling webhook|failed to call webhook/.test(message))
    return "make the webhook named reachable again, or delete its configuration: kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations";
  return "correct the field, policy or object named; the operator retries by itself";
}

/** An instance that does not exist has no status to look at. */
export function instanceStep(message: string, instance: string, where: Where): string {
  return / not found /.test(`${message} `)
    ? `create it, or delete the engine and create it again with the right spec.instanceRef, which cannot change; there may be others: ${ownCommand(where, ["instance", "list"])}`
    : `see what it waits for: ${ownCommand(where, ["instance", "status", instance])}`;
}

export function drainRemedy(message: string): string {
  return /\b403\b|[Ff]orbidden/.test(message)
    ? "allow the operator to get pods/proxy (chart value rbac.apiserverProxyGrant), or set metricScrapeMode: PodIP on the instance"
    : "make the pod respond on port 9090 again, delete the pod, or set spec.rollout: recreate";
}
