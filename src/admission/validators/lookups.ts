// Reads of admission beyond the object it validates. They go to the API server, never to a cache: class and engine are
// often applied together, and a label selector may hide engines from the caches.
import { formatKey, untilAborted } from "@firebolt-operator/kube";
import type { KubeClient } from "@firebolt-operator/kube/client";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { credentialsSecretName } from "../../api/firebolt-instance/secret-names.ts";
import { ANNOTATION } from "../../api/labels.ts";
import { KINDS, SECRET_METADATA } from "../../instance/cluster/kinds.ts";
import { claimName } from "../../instance/model/names.ts";
import type { ClaimSize } from "../../instance/validate/validate-built-in.ts";
import { SharedReads } from "./shared-reads.ts";

export interface LookupKey {
  readonly namespace: string;
  readonly name: string;
}

/** All reject when the API server does not respond. */
export interface AdmissionLookups {
  engineClass(key: LookupKey, signal: AbortSignal): Promise<FireboltEngineClass | undefined>;
  instance(key: LookupKey, signal: AbortSignal): Promise<FireboltInstance | undefined>;
  /** The account id of a retained catalogue that an instance of this name reuses. */
  retainedId(key: LookupKey, signal: AbortSignal): Promise<string | undefined>;
  /** What the claim of the built-in PostgreSQL of an instance requests; undefined where there is none. */
  claimSize(key: LookupKey, signal: AbortSignal): Promise<ClaimSize | undefined>;
  engineExists(key: LookupKey, signal: AbortSignal): Promise<boolean>;
  /** Names of the engines that reference this class, in alphabetical order. */
  enginesOfClass(key: LookupKey, signal: AbortSignal): Promise<readonly string[]>;
}

const TIMEOUT_MS = 5_000;

export function kubeLookups(client: KubeClient): AdmissionLookups {
  // A shared read ends by its own deadline, not when one of its callers stops waiting.
  const call = { timeoutMs: TIMEOUT_MS };
  const classes = new SharedReads<FireboltEngineClass | undefined>();
  const instances = new SharedReads<FireboltInstance | undefined>();
  return {
    engineClass: (key, signal) =>
      untilAborted(
        classes.read(formatKey(key), () => client.find(FireboltEngineClass, key, call)),
        signal,
      ),
    instance: (key, signal) =>
      untilAborted(
        instances.read(formatKey(key), () => client.find(FireboltInstance, key, call)),
        signal,
      ),
    async retainedId({ namespace, name }, signal) {
      const secret = await client.find(
        SECRET_METADATA,
        { namespace, name: credentialsSecretName(name) },
        { ...call, signal },
      );
      return secret?.metadata?.annotations?.[ANNOTATION.accountId];
    },
    async claimSize({ namespace, name: instance }, signal) {
      const name = claimName(instance);
      const claim = await client.find(KINDS.PersistentVolumeClaim, { namespace, name }, { ...call, signal });
      return claim === undefined ? undefined : { name, size: claim.spec?.resources?.requests?.["storage"] };
    },
    async engineExists(key, signal) {
      return (await client.find(FireboltEngine, key, { ...call, signal })) !== undefined;
    },
    async enginesOfClass({ namespace, name }, signal) {
      const { items } = await client.listAll(FireboltEngine, { ...call, signal, namespace });
      return items
        .filter(({ spec }) => spec?.engineClassRef === name)
        .map(({ metadata }) => metadata?.name ?? "")
        .sort();
    },
  };
}
