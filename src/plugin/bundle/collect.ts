// Reads everything for a support bundle. What the user may not read is recorded as a gap. Other Secrets of the
// namespace are read only for their values, so that these can be found and removed; they are not part of the bundle.
import {
  apiVersionOf,
  defineResource,
  groupResourceOf,
  type KubeObject,
  type ResourceType,
} from "@firebolt-operator/kube";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { V1Pod } from "../../api/generated/kubernetes.ts";
import { LABEL } from "../../api/labels.ts";
import { coreEvents, pods } from "../../engine/cluster/kinds.ts";
import { KINDS } from "../../instance/cluster/kinds.ts";
import { isObject } from "../../podtemplate/shapes/shape.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { listObjects, nameOf, type Scope } from "../cluster/find-object.ts";
import { viewEvent } from "../status/events.ts";
import { type Gaps, listRight } from "./gaps.ts";

const endpointSlices = defineResource({
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  namespaced: true,
});
const crds = defineResource({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
});
const nodes = defineResource({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });

export interface Collected {
  /** As the server sent them, with secrets: nothing is written before it is redacted. */
  readonly objects: readonly KubeObject[];
  /** Every readable Secret of the namespace: its values are removed everywhere. */
  readonly secrets: readonly KubeObject[];
  readonly pods: readonly V1Pod[];
  readonly events: readonly object[];
  readonly version: unknown;
}

export interface Subject {
  readonly name: string;
  /** Undefined: the user may not read it. Its children may still be readable. */
  readonly instance: FireboltInstance | undefined;
}

/** On every object of the operator's chart. */
const OPERATOR = "app.kubernetes.io/name=firebolt-operator";

/** Every kind that the operator creates. Contents of Secrets stay in the cluster. */
const CHILD_KINDS: readonly ResourceType[] = Object.values(KINDS).filter(({ kind }) => kind !== KINDS.Secret.kind);

export async function collect(cluster: Cluster, { name, instance }: Subject, gaps: Gaps): Promise<Collected> {
  const { namespace } = cluster;
  const list = <T extends KubeObject>(
    type: ResourceType<T>,
    scope: Scope = { namespace },
  ): Promise<readonly T[] | undefined> =>
    gaps.attempt<readonly T[] | undefined>(
      { what: whatOf(type), right: listRight(type, scope.namespace) },
      async () => {
        const { items } = await listObjects(cluster, type, scope);
        return items.map((item) => ({ apiVersion: apiVersionOf(type), kind: type.kind, ...item }));
      },
      undefined,
    );
  const listed = async <T extends KubeObject>(type: ResourceType<T>, scope?: Scope): Promise<readonly T[]> =>
    (await list(type, scope)) ?? [];
  const allEngines = await list(FireboltEngine);
  const engines = allEngines?.filter(({ spec }) => spec?.instanceRef === name) ?? [];
  const engineNames = new Set(engines.map(nameOf));
  const classNames = new Set(engines.flatMap(({ spec }) => spec?.engineClassRef ?? []));
  // Without the engines the owner of an object is unknown: all of them are included.
  const isOfEngine = (engine: string | undefined): boolean =>
    engine !== undefined && (allEngines === undefined || engineNames.has(engine));
  const isOwn = ({ metadata }: KubeObject): boolean =>
    metadata?.labels?.[LABEL.instance] === name || isOfEngine(metadata?.labels?.[LABEL.engine]);
  const children = (await Promise.all(CHILD_KINDS.map((type) => listed(type)))).flat().filter(isOwn);
  const everywhere: Scope = { namespace: undefined };
  const operator: Scope = { ...everywhere, labelSelector: OPERATOR };
  const ownPods = [...(await listed(pods)).filter(isOwn), ...(await listed(pods, operator))];
  const classes = (await listed(FireboltEngineClass)).filter((one) => classNames.has(nameOf(one)));
  const secrets = await listed(KINDS.Secret);
  const referenced = new Set(
    [...(instance === undefined ? [] : [instance]), ...engines, ...classes, ...children, ...ownPods].flatMap(
      secretNamesIn,
    ),
  );
  const ownSecrets = secrets.filter((secret) => isOwn(secret) || referenced.has(nameOf(secret)));
  const routes = (await listed(endpointSlices)).filter(({ metadata }) =>
    /-(gateway|metadata|service|hl)-/.test(metadata?.name ?? ""),
  );
  const definitions = (await listed(crds, everywhere)).filter(({ metadata }) =>
    metadata?.name?.endsWith(".compute.firebolt.io"),
  );
  const hosts = new Set(ownPods.flatMap(({ spec }) => spec?.nodeName ?? []));
  const machines = (await listed(nodes, everywhere)).filter((node) => hosts.has(nameOf(node)));
  const events = (await listed(coreEvents)).map(viewEvent).sort((a, b) => a.lastSeen.localeCompare(b.lastSeen));
  const version = await gaps.attempt<unknown>(
    { what: "version", right: "get /version" },
    () => cluster.client.request({ ...cluster.call, method: "GET", path: "/version" }),
    null,
  );
  const stored =
    instance === undefined
      ? []
      : [{ apiVersion: apiVersionOf(FireboltInstance), kind: FireboltInstance.kind, ...instance }];
  return {
    objects: [
      ...stored,
      ...engines,
      ...classes,
      ...children,
      ...(await listed(KINDS.Deployment, operator)),
      ...ownPods,
      ...routes,
      ...ownSecrets,
      ...definitions.map(brief),
      ...machines.map(brief),
    ],
    secrets,
    pods: ownPods,
    events,
    version,
  };
}

function whatOf(type: ResourceType): string {
  // The bundle is still written, but with less removed: the user has to know before sending it.
  const isSecret = type.kind === KINDS.Secret.kind;
  return isSecret ? `${groupResourceOf(type)} (so their values were not searched for in logs)` : groupResourceOf(type);
}

/**
 * Names of the Secrets that a spec refers to: `secretName`, `…SecretRef.name`, `secretKeyRef.name`,
 * `imagePullSecrets[].name`.
 */
export function secretNamesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(secretNamesIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === "secretName") return typeof inner === "string" ? [inner] : [];
    if (!/secret/i.test(key)) return secretNamesIn(inner);
    const references: readonly unknown[] = Array.isArray(inner) ? inner : [inner];
    const names = references.flatMap((one) => (isObject(one) && typeof one["name"] === "string" ? [one["name"]] : []));
    return [...names, ...secretNamesIn(inner)];
  });
}

/** CRDs and nodes are long: only the relevant fields are kept. */
function brief(object: KubeObject): KubeObject {
  const plain: Record<string, unknown> = { ...object };
  const { spec: _, ...rest } = plain;
  return rest;
}
