// The ordered steps of a pass (docs/design/instance.md#steps-of-a-pass): the writes that bring the objects of an
// instance to the desired state. Unchanged objects are not written again; objects of a disabled component are deleted
// once no pod uses them.

import { ANNOTATION } from "../../api/labels.ts";
import { retainedFor } from "../database/retention.ts";
import { claimTemplateOf, growth, isOutdated, isRefused, isReplaceable, validateVolume } from "../database/storage.ts";
import { hasRenderedHashOf, isAsRendered, outcomeOf, withRenderedHash } from "../drift/as-rendered.ts";
import { type Child, isOwnedBy, type LiveObject, type Rendered, type RenderedKind } from "../model/children.ts";
import type { Removal, Step, Write } from "../model/decision.ts";
import { claimName, gatewayName, metadataName, postgresName } from "../model/names.ts";
import { takenProblem } from "../model/rejection.ts";
import { childKey, childOf, type InstanceSnapshot } from "../model/snapshot.ts";
import { gatewayAccountName, ownsGatewayIdentity } from "../render/gateway-identity.ts";
import {
  type InstanceObjects,
  type RenderFacts,
  renderInstanceObjects,
  renderPostgresObjects,
} from "../render/instance-objects.ts";
import { hasPostgresGuard, volumeWish } from "../render/postgres.ts";
import { type Catalogue, catalogueOf, postgresRun, rememberedClaim } from "./catalogue.ts";
import { replacedAccountUid } from "./gateway-account.ts";
import { isRolledOut, isServing } from "./readiness.ts";

export function computeSteps(s: InstanceSnapshot): readonly Step[] {
  const catalogue = catalogueOf(s);
  const objects = renderInstanceObjects(s.instance, s.settings, factsOf(s, catalogue));
  const metadataServes = isServing(childOf(s, "Deployment", metadataName(s.identity.name)));
  const steps: readonly Step[] = [
    {
      component: "metadata",
      failure: "PostgresEnsureFailed",
      writes: [
        // Where the data is lost, or about to be, a new password would only lock out a restored database.
        ...(postgresRun(catalogue) === "running" ? [...credentials(s), ...volume(s, catalogue)] : []),
        ...guards(s, catalogue),
        ...postgresWrites(s, objects.postgres),
      ],
    },
    { component: "metadata", failure: "EnsureFailed", writes: writesOf(s, objects.metadata) },
    // A gateway without metadata has nothing to route to.
    { component: "gateway", failure: "EnsureFailed", writes: metadataServes ? writesOf(s, objects.gateway) : [] },
    { component: "metadata", failure: "EnsureFailed", writes: removals(s, unusedPostgres(s, objects)) },
    { component: "gateway", failure: "EnsureFailed", writes: removals(s, unusedIdentity(s, objects)) },
  ];
  return steps.filter(({ writes }) => writes.length > 0);
}

/**
 * The writes for a rejected instance: its database does not start on a volume that is not its own. Where the claim
 * never had a volume and differs from the spec, the StatefulSet is deleted: it would recreate the claim as it was.
 */
export function computeSafeguards(s: InstanceSnapshot): readonly Step[] {
  const catalogue = catalogueOf(s);
  const statefulSet = childOf(s, "StatefulSet", postgresName(s.identity.name));
  if (s.instance.spec.metadata.postgres !== undefined || statefulSet.type !== "live") return [];
  const removal = removalOf("StatefulSet", statefulSet);
  const isUnwanted = s.isClaimConfirmed && isReplaceable(s) && validateVolume(s).length > 0;
  const writes: readonly Write[] =
    postgresRun(catalogue) !== "running"
      ? [...guards(s, catalogue), ...writesOf(s, renderPostgresObjects(s.instance, s.settings, factsOf(s, catalogue)))]
      : isUnwanted && removal !== undefined
        ? [{ type: "remove", removal }]
        : [];
  return writes.length === 0 ? [] : [{ component: "metadata", failure: "PostgresEnsureFailed", writes }];
}

/**
 * Before every other write to PostgreSQL: a template that the API server rejects must not keep an empty database
 * running.
 */
function guards(s: InstanceSnapshot, catalogue: Catalogue): readonly Write[] {
  const name = postgresName(s.identity.name);
  const [run, statefulSet] = [postgresRun(catalogue), childOf(s, "StatefulSet", name)];
  if (run === "running" || statefulSet.type !== "live" || hasPostgresGuard(statefulSet.object, run)) return [];
  const uid = statefulSet.object.metadata?.uid ?? "";
  return [{ type: "guardPostgres", name, uid, guard: { run, lostClaim: rememberedClaim(catalogue) } }];
}

function factsOf(s: InstanceSnapshot, catalogue: Catalogue): RenderFacts {
  const statefulSet = childOf(s, "StatefulSet", postgresName(s.identity.name));
  const claimTemplate = statefulSet.type === "live" ? claimTemplateOf(statefulSet.object) : undefined;
  const run = postgresRun(catalogue);
  const lostClaim = run === "running" ? undefined : rememberedClaim(catalogue);
  return { postgres: { run, claimTemplate, lostClaim }, replacedAccountUid: replacedAccountUid(s) };
}

function credentials({ credentials: { type }, instance, identity, secret }: InstanceSnapshot): readonly Write[] {
  if (type === "toCreate") return [{ type: "createCredentials" }];
  const { spec } = instance;
  if (retainedFor(spec) === undefined || secret?.uid === undefined || secret.deletionTimestamp !== undefined) return [];
  const isFree = !isOwnedBy(secret, identity.uid) && secret.annotations?.[ANNOTATION.accountId] === spec.id;
  return isFree ? [] : [{ type: "retainCredentials", uid: secret.uid }];
}

function volume(s: InstanceSnapshot, catalogue: Catalogue): readonly Write[] {
  if (catalogue.type !== "intact") return [];
  const { uid } = catalogue.claim;
  const size = growth(s);
  return size === undefined || isRefused(s) ? [] : [{ type: "growClaim", name: claimName(s.identity.name), uid, size }];
}

/**
 * Where no claim exists yet, or one that never had a volume, a claim of the desired size and class can still be
 * created: by a new StatefulSet, because claim templates are immutable.
 */
function postgresWrites(s: InstanceSnapshot, objects: readonly Rendered[]): readonly Write[] {
  const statefulSet = childOf(s, "StatefulSet", postgresName(s.identity.name));
  const wish = volumeWish(s.instance.spec.metadata.builtInPostgres);
  const removal = removalOf("StatefulSet", statefulSet);
  const isFree = s.isClaimConfirmed && (s.claim === undefined || isReplaceable(s));
  // If the last StatefulSet that was created for this wish is outdated as well, the next one would be too.
  const isDue = isOutdated(s) && s.remadeFor !== wish;
  if (objects.length === 0 || !isFree || !isDue || removal === undefined) return writesOf(s, objects);
  return [{ type: "remove", removal, wish }];
}

function writesOf(s: InstanceSnapshot, objects: readonly Rendered[]): readonly Write[] {
  return objects.flatMap((object) => writesFor(s, withRenderedHash(object)));
}

function writesFor(s: InstanceSnapshot, object: Rendered): readonly Write[] {
  const { kind, metadata } = object;
  const child = childOf(s, kind, metadata.name);
  switch (child.type) {
    case "absent":
      return [{ type: "create", object, isRepair: s.seen.has(childKey(kind, metadata.name)) }];
    case "foreign":
    case "terminating":
      return [{ type: "blocked", kind, name: metadata.name, problem: takenProblem(child.object.metadata, s.identity) }];
    case "live":
      if (isSettled(s, child.object, object)) return [];
      return object.kind === "RoleBinding" && boundTo(child.object) !== boundTo(object)
        ? rebinding(object, child)
        : [
            {
              type: "update",
              object,
              uid: child.object.metadata?.uid ?? "",
              isRepair: hasRenderedHashOf(child.object, object),
            },
          ];
    default:
      return child satisfies never;
  }
}

/**
 * The role of a binding is immutable, so the binding is replaced. A possible rejection (no such ClusterRole, or one
 * that grants more than the operator has) must come before the old binding is deleted: running gateways depend on it.
 */
function rebinding(object: Rendered, live: Child<LiveObject>): readonly Write[] {
  const removal = removalOf("RoleBinding", live);
  const [before, after] = [live.type === "live" ? boundTo(live.object) : "", boundTo(object)];
  const formerRole = before.startsWith("Role/") && after.startsWith("ClusterRole/") ? before.slice("Role/".length) : "";
  return [
    { type: "rehearse", object },
    // Before the binding, which alone names the Role: a crash in between repeats both.
    ...(formerRole === "" ? [] : [{ type: "retire", kind: "Role", name: formerRole } as const]),
    ...(removal === undefined ? [] : [{ type: "remove", removal } as const]),
    { type: "create", object, isRepair: false },
  ];
}

function boundTo(binding: LiveObject | Rendered): string {
  return "roleRef" in binding ? `${binding.roleRef.kind}/${binding.roleRef.name}` : "";
}

/** As rendered, or what the API server makes of it in this cluster. */
function isSettled(s: InstanceSnapshot, live: LiveObject, object: Rendered): boolean {
  if (isAsRendered(live, object)) return true;
  const known = s.outcomes.get(childKey(object.kind, object.metadata.name));
  return known !== undefined && known === outcomeOf(live, object);
}

/** After a change to an external database. The claim and the Secret are kept: they are the data, and the way back. */
function unusedPostgres(s: InstanceSnapshot, objects: InstanceObjects): readonly Unused[] {
  if (objects.postgres.length > 0 || !isReached(s, objects.metadata, metadataName(s.identity.name))) return [];
  const name = postgresName(s.identity.name);
  return [
    ["StatefulSet", name],
    ["Service", name],
  ];
}

/** After the user has named an account for the gateway. */
function unusedIdentity(s: InstanceSnapshot, objects: InstanceObjects): readonly Unused[] {
  const { spec } = s.instance;
  const name = gatewayName(s.identity.name);
  if (ownsGatewayIdentity(spec) || gatewayAccountName(s.identity.name, spec) === name) return [];
  if (!isReached(s, objects.gateway, name)) return [];
  return [
    ["RoleBinding", name],
    ["Role", name],
    ["ServiceAccount", name],
  ];
}

type Unused = readonly [RenderedKind, string];

/**
 * Whether every pod of the Deployment has the current template: pods of an older one may use what has been disabled.
 */
function isReached(s: InstanceSnapshot, objects: readonly Rendered[], deployment: string): boolean {
  const child = childOf(s, "Deployment", deployment);
  const rendered = objects.find(({ kind }) => kind === "Deployment");
  if (rendered === undefined || child.type !== "live") return false;
  return isSettled(s, child.object, withRenderedHash(rendered)) && isRolledOut(child);
}

function removals(s: InstanceSnapshot, unused: readonly Unused[]): readonly Write[] {
  return unused.flatMap(([kind, name]): Write[] => {
    const removal = removalOf(kind, childOf(s, kind, name));
    return removal === undefined ? [] : [{ type: "remove", removal }];
  });
}

function removalOf(kind: RenderedKind, child: Child<LiveObject>): Removal | undefined {
  if (child.type !== "live") return undefined;
  const { name, uid } = child.object.metadata ?? {};
  return name === undefined || uid === undefined ? undefined : { kind, name, uid };
}
