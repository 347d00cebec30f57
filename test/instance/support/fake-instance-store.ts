// An instance's world in memory: one store of objects with resource versions, a log of every request, and a way to fail
// or crash at any of them. Not an API server: it knows only what InstanceCluster promises.
import { isDeepStrictEqual } from "node:util";
import { KubeApiError } from "@firebolt-operator/kube";
import type { FireboltInstance } from "../../../src/api/firebolt-instance/instance.ts";
import type { InstanceStatus } from "../../../src/api/firebolt-instance/status.ts";
import type { V1Deployment, V1Secret } from "../../../src/api/generated/kubernetes.ts";
import { INSTANCE_NAMES } from "../../../src/api/group.ts";
import { LABEL } from "../../../src/api/labels.ts";
import type { DeepReadonly } from "../../../src/api/values/deep-readonly.ts";
import type {
  InstanceCluster,
  InstanceKey,
  SecretRelease,
  StatusWriteResult,
  Update,
} from "../../../src/instance/cluster/instance-cluster.ts";
import { trimConfigMap } from "../../../src/instance/model/cache-trims.ts";
import type { ChildKind, ChildTypes, Instance, Rendered, RenderedKind } from "../../../src/instance/model/children.ts";
import type { PostgresGuard, Removal } from "../../../src/instance/model/decision.ts";
import { renderPostgresGuard } from "../../../src/instance/render/postgres.ts";
import type { Pod } from "../../../src/pods/pod-trouble.ts";
import { isObject } from "../../../src/podtemplate/shapes/shape.ts";

interface Stored extends ChildTypes {
  FireboltInstance: FireboltInstance;
}
type Kind = keyof Stored;

/** RFC 7396. */
function withPatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch))
    if (value === null) delete result[key];
    else result[key] = withPatch(result[key], value);
  return result;
}

/** The process exits here: nothing after this request happens. */
export class Crash extends Error {
  override readonly name = "Crash";
}

export class FakeInstanceStore implements InstanceCluster {
  readonly #stopping = new AbortController();
  /** Every request that a real world would have sent, in order: `verb Kind name`. */
  readonly requests: string[] = [];
  /** Called before every request; what it throws is the response. */
  intercept: (request: string) => void = () => undefined;
  /**
   * Called after every write took effect; what it throws is the response: the write happened, and its response is lost.
   */
  loseResponse: (request: string) => void = () => undefined;
  /** What an admission policy makes of a written object. */
  mutate: (object: Rendered) => Rendered = (object) => object;
  /** `Kind name` of objects that are not in the cache yet. */
  readonly unseen = new Set<string>();
  readonly #objects = new Map<string, Stored[Kind]>();
  #version = 100;

  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** The process receives a shutdown request. */
  stop(): void {
    this.#stopping.abort(new Crash("stopping"));
  }

  put<K extends Kind>(kind: K, object: Stored[K]): Stored[K] {
    const { namespace = "ns", name = "", uid = `${kind}-${name}-${this.#version}` } = object.metadata ?? {};
    const metadata = { generation: 1, ...object.metadata, namespace, uid, resourceVersion: String(++this.#version) };
    const stored = structuredClone({ ...object, metadata });
    this.#objects.set(`${kind} ${name}`, stored);
    return stored;
  }

  get<K extends Kind>(kind: K, name: string): Stored[K] | undefined {
    return this.#objects.get(`${kind} ${name}`) as Stored[K] | undefined;
  }

  drop(kind: Kind, name: string): void {
    this.#objects.delete(`${kind} ${name}`);
  }

  /** `Kind name` of everything that is stored, sorted. */
  inventory(): readonly string[] {
    return [...this.#objects.keys()].sort();
  }

  /** What the Deployment controller reports, if there is such a Deployment. */
  report(deployment: string, readyReplicas: number): void {
    const found = this.get("Deployment", deployment);
    if (found === undefined) return;
    const replicas = found.spec?.replicas ?? 1;
    const observedGeneration = found.metadata?.generation ?? 0;
    const status: V1Deployment["status"] = { replicas, updatedReplicas: replicas, readyReplicas, observedGeneration };
    this.put("Deployment", { ...found, status });
  }

  /** Edits the spec like a user. */
  edit(name: string, change: (spec: FireboltInstance["spec"]) => void): void {
    const found = structuredClone(this.get("FireboltInstance", name));
    if (found === undefined) throw new Error(`no instance ${name}`);
    change(found.spec);
    this.put("FireboltInstance", {
      ...found,
      metadata: { ...found.metadata, generation: (found.metadata?.generation ?? 0) + 1 },
    });
  }

  #send(request: string): void {
    this.requests.push(request);
    this.intercept(request);
  }

  instance = ({ name }: InstanceKey) => this.get("FireboltInstance", name);

  child = <K extends RenderedKind>(kind: K, { name }: InstanceKey): DeepReadonly<ChildTypes[K]> | undefined => {
    const found: Stored[RenderedKind] | undefined = this.get(kind, name);
    if (found?.metadata?.labels?.[LABEL.instance] === undefined || this.unseen.has(`${kind} ${name}`)) return undefined;
    const cached = kind === "ConfigMap" ? trimConfigMap(found as Stored["ConfigMap"]) : found;
    return cached as DeepReadonly<ChildTypes[K]>;
  };

  engines = ({ name }: InstanceKey) => this.#enginesOf(name).filter((engine) => !this.unseen.has(`engine ${engine}`));

  listEngines = async ({ name }: InstanceKey) => {
    this.#send("list FireboltEngine");
    return this.#enginesOf(name);
  };

  /** What the kubelet reports of the components' pods. */
  pods: readonly Pod[] = [];

  listPods = async () => {
    this.#send("list Pod");
    return this.pods;
  };

  /** Warning events of the database's claim. */
  warnings: readonly string[] = [];

  listWarnings = async () => {
    this.#send("list Event");
    return this.warnings;
  };

  /** Engines of the namespace, by the instance that they name. */
  readonly enginesByName = new Map<string, string>();

  #enginesOf(instance: string): readonly string[] {
    return [...this.enginesByName].flatMap(([engine, named]) => (named === instance ? [engine] : []));
  }

  claim = ({ name }: InstanceKey) => this.#labelled("PersistentVolumeClaim", name);

  secretMetadata = ({ name }: InstanceKey) => this.#labelled("Secret", name)?.metadata;

  #labelled<K extends Kind>(kind: K, name: string): Stored[K] | undefined {
    const found = this.get(kind, name);
    return found?.metadata?.labels?.[LABEL.instance] === undefined || this.unseen.has(`${kind} ${name}`)
      ? undefined
      : found;
  }

  readClaim = async ({ name }: InstanceKey) => {
    this.#send(`get PersistentVolumeClaim ${name}`);
    return this.get("PersistentVolumeClaim", name);
  };

  readInstance = async ({ name }: InstanceKey) => {
    this.#send(`get FireboltInstance ${name}`);
    return this.get("FireboltInstance", name);
  };

  readChild = async (kind: RenderedKind, { name }: InstanceKey) => {
    this.#send(`get ${kind} ${name}`);
    const found = this.get(kind, name);
    return found?.metadata === undefined ? undefined : { kind, metadata: found.metadata };
  };

  readConfigMap = async ({ name }: InstanceKey) => {
    this.#send(`get ConfigMap ${name}`);
    return this.get("ConfigMap", name);
  };

  readSecret = async ({ name }: InstanceKey) => {
    this.#send(`get Secret ${name}`);
    return this.get("Secret", name);
  };

  listLabelled = async (kind: ChildKind, { name }: InstanceKey) => {
    this.#send(`list ${kind}`);
    if (name.length > 63) throw new KubeApiError("LIST", 400, { reason: "BadRequest", message: "invalid label value" });
    return [...this.#objects]
      .filter(([key]) => key.startsWith(`${kind} `))
      .flatMap(([, { metadata }]) => (metadata?.labels?.[LABEL.instance] === name ? [{ kind, metadata }] : []));
  };

  addFinalizer = (instance: Instance) =>
    this.#patch("addFinalizer", instance, (found) => ({
      ...found,
      metadata: { ...found.metadata, finalizers: [...(found.metadata?.finalizers ?? []), INSTANCE_NAMES.finalizer] },
    }));

  removeFinalizer = (instance: Instance) =>
    this.#patch("removeFinalizer", instance, (found) => ({
      ...found,
      metadata: {
        ...found.metadata,
        finalizers: (found.metadata?.finalizers ?? []).filter((name) => name !== INSTANCE_NAMES.finalizer),
      },
    }));

  writeId = (instance: Instance, id: string) =>
    this.#patch("writeId", instance, (found) => ({
      ...found,
      metadata: { ...found.metadata, generation: (found.metadata?.generation ?? 0) + 1 },
      spec: { ...found.spec, id },
    }));

  releaseSecret = async ({ name }: InstanceKey, release: SecretRelease): Promise<"patched" | "conflict"> => {
    this.#send(`release Secret ${name}`);
    const found = this.get("Secret", name);
    if (found?.metadata?.uid !== release.uid) return "conflict";
    const { ownerReferences = [], ...metadata } = found.metadata;
    const annotations = { ...metadata.annotations, ...release.annotations };
    const owners = ownerReferences.filter(({ uid }) => uid !== release.owner);
    const kept = owners.length === 0 ? {} : { ownerReferences: owners };
    this.put("Secret", { ...found, metadata: { ...metadata, ...kept, annotations } });
    this.loseResponse(`release Secret ${name}`);
    return "patched";
  };

  growClaim = async ({ name }: InstanceKey, uid: string, size: string | number): Promise<"patched" | "conflict"> => {
    this.#send(`grow PersistentVolumeClaim ${name}`);
    const found = this.get("PersistentVolumeClaim", name);
    if (found?.metadata?.uid !== uid) return "conflict";
    this.put("PersistentVolumeClaim", {
      ...found,
      spec: { ...found.spec, resources: { requests: { storage: size } } },
    });
    this.loseResponse(`grow PersistentVolumeClaim ${name}`);
    return "patched";
  };

  guardPostgres = async ({ name }: InstanceKey, uid: string, guard: PostgresGuard): Promise<"patched" | "conflict"> => {
    this.#send(`guard StatefulSet ${name}`);
    const found = this.get("StatefulSet", name);
    if (found?.metadata?.uid !== uid) return "conflict";
    const { metadata = {}, spec } = renderPostgresGuard(guard);
    this.put("StatefulSet", {
      ...found,
      metadata: { ...found.metadata, ...metadata, generation: (found.metadata?.generation ?? 0) + 1 },
      spec: withPatch(found.spec, spec),
    } as Stored["StatefulSet"]);
    this.loseResponse(`guard StatefulSet ${name}`);
    return "patched";
  };

  async #patch(verb: string, instance: Instance, change: (found: FireboltInstance) => FireboltInstance): Promise<void> {
    const name = instance.metadata?.name ?? "";
    this.#send(`${verb} ${name}`);
    const found = this.get("FireboltInstance", name);
    if (found === undefined || found.metadata?.resourceVersion !== instance.metadata?.resourceVersion)
      throw new KubeApiError("PATCH", 409, { reason: "Conflict" });
    const { deletionTimestamp, finalizers } = this.put("FireboltInstance", change(found)).metadata ?? {};
    if (deletionTimestamp !== undefined && finalizers?.length === 0) this.drop("FireboltInstance", name);
    this.loseResponse(`${verb} ${name}`);
  }

  createSecret = async (secret: V1Secret): Promise<"created" | "exists"> => {
    const name = secret.metadata?.name ?? "";
    this.#send(`create Secret ${name}`);
    if (this.get("Secret", name) !== undefined) return "exists";
    this.put("Secret", secret);
    this.loseResponse(`create Secret ${name}`);
    return "created";
  };

  create = async (object: Rendered): Promise<"created" | "exists"> => {
    const { kind, metadata } = object;
    this.#send(`create ${kind} ${metadata.name}`);
    if (this.get(kind, metadata.name) !== undefined) return "exists";
    this.#store(object, "create");
    return "created";
  };

  update = async (object: Rendered, uid: string): Promise<Update> => {
    const { kind, metadata } = object;
    this.#send(`update ${kind} ${metadata.name}`);
    if (this.get(kind, metadata.name)?.metadata?.uid !== uid) return { type: "conflict" };
    this.#store(object, "update");
    return { type: "updated", editor: "kubectl-edit" };
  };

  rehearse = async ({ kind, metadata }: Rendered) => {
    this.#send(`rehearse ${kind} ${metadata.name}`);
  };

  overwrite = async (object: Rendered) => {
    this.#send(`overwrite ${object.kind} ${object.metadata.name}`);
    this.#store(object, "update");
  };

  #store(rendered: Rendered, verb: "create" | "update"): void {
    const object = this.mutate(structuredClone(rendered)) as Stored[RenderedKind];
    const found = this.get(rendered.kind, rendered.metadata.name);
    if (rendered.kind === "RoleBinding" && found !== undefined && "roleRef" in found)
      if (!isDeepStrictEqual(found.roleRef, rendered.roleRef))
        throw new KubeApiError("PATCH", 422, { reason: "Invalid", message: "roleRef: cannot change roleRef" });
    const { uid, generation = 0 } = found?.metadata ?? {};
    const metadata = { ...object.metadata, ...(uid === undefined ? {} : { uid }), generation: generation + 1 };
    const status = found !== undefined && "status" in found ? { status: found.status } : {};
    this.put(rendered.kind, { ...object, ...status, metadata } as Stored[RenderedKind]);
    if (rendered.kind === "StatefulSet") this.makeClaim(rendered.metadata.name);
    this.loseResponse(`${verb} ${rendered.kind} ${rendered.metadata.name}`);
  }

  /** What the StatefulSet controller and a provisioner do: the claim of a pod that is to run and has none. */
  makeClaim(statefulSet: string): void {
    const { spec, metadata } = this.get("StatefulSet", statefulSet) ?? {};
    const [name, template] = [`data-${statefulSet}-0`, spec?.volumeClaimTemplates?.[0]];
    if (spec?.replicas === 0 || this.get("PersistentVolumeClaim", name) !== undefined) return;
    const uid = `claim-${this.#version}`;
    const storageClassName = template?.spec?.storageClassName ?? "standard";
    this.put("PersistentVolumeClaim", {
      metadata: { name, uid, ...(metadata?.labels === undefined ? {} : { labels: metadata.labels }) },
      spec: { ...template?.spec, storageClassName, volumeName: `pv-${uid}` },
    });
  }

  remove = async (_namespace: string, { kind, name, uid }: Removal): Promise<"accepted" | "conflict"> => {
    this.#send(`delete ${kind} ${name}`);
    const found = this.get(kind, name);
    if (found !== undefined && found.metadata?.uid !== uid) return "conflict";
    this.drop(kind, name);
    this.loseResponse(`delete ${kind} ${name}`);
    return "accepted";
  };

  writeStatus = async (instance: Instance, status: InstanceStatus): Promise<StatusWriteResult> => {
    const name = instance.metadata?.name ?? "";
    this.#send(`status ${name}`);
    const found = this.get("FireboltInstance", name);
    if (found === undefined) return { type: "gone" };
    if (found.metadata?.resourceVersion !== instance.metadata?.resourceVersion) return { type: "conflict" };
    const stored = this.put("FireboltInstance", { ...found, status });
    this.loseResponse(`status ${name}`);
    return { type: "written", instance: stored };
  };
}
