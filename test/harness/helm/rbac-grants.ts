// Compares the grants of roles with the requests: pure. A grant is one verb on one resource, with the names it is
// limited to; it counts as used when a request needed it, or when it was granted to another role, which only its holder
// can do.
import { valueAt } from "@firebolt-operator/kube/testing";
import type { RenderedObject } from "./helm.ts";
import type { AuditedRequest } from "./rbac-audit.ts";

export interface Grant {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Empty: all. */
  readonly names: readonly string[];
  /** Empty: all. Roles of one name in several namespaces are one role here. */
  readonly namespaces: readonly string[];
  readonly role: string;
}

/** What was needed. */
export interface Need {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

export const grantText = ({ verb, group, resource, names, role }: Grant): string =>
  `${role}: ${verb} ${resource}${group === "" ? "" : `.${group}`}${names.length === 0 ? "" : ` named ${names.join(", ")}`}`;

/** Every grant of the roles that the manifests bind to this service account. */
export function grantsOf(objects: readonly RenderedObject[], account: string): readonly Grant[] {
  const bound = objects.filter(
    ({ kind, ...rest }) => kind.endsWith("RoleBinding") && valueAt(rest, ["subjects", 0, "name"]) === account,
  );
  const roles = new Map<string, { readonly role: RenderedObject; readonly namespaces: string[] }>();
  for (const binding of bound) {
    const [kind, name] = [valueAt(binding, ["roleRef", "kind"]), valueAt(binding, ["roleRef", "name"])];
    const { namespace } = binding.metadata;
    const role = objects.find(
      (one) => one.kind === kind && one.metadata.name === name && one.metadata.namespace === namespace,
    );
    if (role === undefined)
      throw new Error(`${binding.kind} ${binding.metadata.name} binds a role that is not rendered`);
    const known = roles.get(`${kind}/${name}`);
    if (known === undefined)
      roles.set(`${kind}/${name}`, { role, namespaces: namespace === undefined ? [] : [namespace] });
    else if (namespace !== undefined) known.namespaces.push(namespace);
  }
  return [...roles].flatMap(([role, one]) => rulesOf(one.role).flatMap((rule) => expand(rule, role, one.namespaces)));
}

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

export function rulesOf(role: unknown): readonly Rule[] {
  const rules = valueAt(role, ["rules"]);
  return Array.isArray(rules) ? (rules as readonly Rule[]) : [];
}

function expand(rule: Rule, role: string, namespaces: readonly string[]): readonly Grant[] {
  const { apiGroups = [], resources = [], verbs, resourceNames: names = [] } = rule;
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) => verbs.map((verb) => ({ verb, group, resource, names, namespaces, role }))),
  );
}

/**
 * An apply that created its object needed `create` as well; a list or watch of one name is recognised by its field
 * selector.
 */
export function needsOf(requests: readonly AuditedRequest[]): readonly Need[] {
  return requests.flatMap(({ verb, group, resource, namespace, name, path, status, forbidden }) => {
    if (resource === "" || forbidden) return [];
    const selected = /[?&]fieldSelector=metadata\.name(?:%3D|=)([^&]+)/.exec(path)?.[1];
    const need = { verb, group, resource, namespace, name: name === "" ? (selected ?? "") : name };
    return verb === "patch" && status === 201 ? [need, { ...need, verb: "create", name: "" }] : [need];
  });
}

/** Rules that a role made by the manager passes on. */
export function passedOn(role: unknown): readonly Need[] {
  const namespace = String(valueAt(role, ["metadata", "namespace"]));
  return rulesOf(role)
    .flatMap((rule) => expand(rule, "", []))
    .map(({ verb, group, resource }) => ({ verb, group, resource, namespace, name: "" }));
}

/** What a manager that owns this object needs where the cluster checks `blockOwnerDeletion`. */
export function ownerNeeds(child: unknown, pluralOf: (kind: string) => string | undefined): readonly Need[] {
  const owners = valueAt(child, ["metadata", "ownerReferences"]);
  if (!Array.isArray(owners)) return [];
  return owners.flatMap((owner: unknown) => {
    const plural = pluralOf(String(valueAt(owner, ["kind"])));
    if (plural === undefined || valueAt(owner, ["blockOwnerDeletion"]) !== true) return [];
    const [group = ""] = String(valueAt(owner, ["apiVersion"])).split("/");
    const namespace = String(valueAt(child, ["metadata", "namespace"]));
    return [{ verb: "update", group, resource: `${plural}/finalizers`, namespace, name: "" }];
  });
}

/** Grants that nothing needed. */
export function unusedGrants(grants: readonly Grant[], needs: readonly Need[]): readonly string[] {
  return grants.filter((grant) => !needs.some((need) => covers(grant, need))).map(grantText);
}

/** Needs that no grant covers. */
export function uncoveredNeeds(grants: readonly Grant[], needs: readonly Need[]): readonly string[] {
  const missing = needs.filter((need) => !grants.some((grant) => covers(grant, need)));
  return [
    ...new Set(missing.map(({ verb, resource, group, namespace }) => `${verb} ${resource}.${group} in "${namespace}"`)),
  ];
}

function covers(grant: Grant, need: Need): boolean {
  return (
    grant.verb === need.verb &&
    grant.group === need.group &&
    grant.resource === need.resource &&
    (grant.namespaces.length === 0 || grant.namespaces.includes(need.namespace)) &&
    (grant.names.length === 0 || grant.names.includes(need.name))
  );
}
