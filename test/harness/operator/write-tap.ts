// Wraps the client of the controllers: every write is announced before it is sent and after it was accepted, so that a test can
// kill, pause or disturb the operator at exactly one of them. The writes themselves are unchanged.
import type { ObjectKey, ResourceType } from "@firebolt-operator/kube";
import type { KubeClient } from "@firebolt-operator/kube/client";

export interface WriteCall {
  readonly verb: "create" | "replace" | "patch" | "apply" | "delete";
  readonly kind: string;
  readonly name: string;
  readonly subresource: string;
  /** Counted from 1. */
  readonly number: number;
  /** `create StatefulSet e-g0`, `patch FireboltEngine e status` */
  readonly text: string;
}

export interface WriteTap {
  readonly before?: (call: WriteCall) => void | Promise<void>;
  /** Accepted by the API server, and not yet known to the operator. */
  readonly accepted?: (call: WriteCall) => void | Promise<void>;
}

export function tapWrites(client: KubeClient, tap: WriteTap): KubeClient {
  let number = 0;
  const around = async <R>(call: Pick<WriteCall, "verb" | "subresource">, target: Target, write: () => Promise<R>) => {
    number += 1;
    const { verb, subresource } = call;
    const { kind, name } = target;
    const text = `${verb} ${kind} ${name}${subresource === "" ? "" : ` ${subresource}`}`;
    const announced: WriteCall = { verb, kind, name, subresource, number, text };
    await tap.before?.(announced);
    const result = await write();
    await tap.accepted?.(announced);
    return result;
  };
  return {
    get: (type, key, options) => client.get(type, key, options),
    find: (type, key, options) => client.find(type, key, options),
    list: (type, options) => client.list(type, options),
    listAll: (type, options) => client.listAll(type, options),
    watch: (type, options) => client.watch(type, options),
    podProxyGet: (request) => client.podProxyGet(request),
    podLogs: (request, options) => client.podLogs(request, options),
    request: (request) => client.request(request),
    onWrite: (listener) => client.onWrite(listener),
    close: () => client.close(),
    create: (type, object, options) =>
      around({ verb: "create", subresource: options?.subresource ?? "" }, targetOf(type, object.metadata), () =>
        client.create(type, object, options),
      ),
    replace: (type, object, options) =>
      around({ verb: "replace", subresource: options?.subresource ?? "" }, targetOf(type, object.metadata), () =>
        client.replace(type, object, options),
      ),
    patch: (type, key, patch, options) =>
      around({ verb: "patch", subresource: options?.subresource ?? "" }, targetOf(type, key), () =>
        client.patch(type, key, patch, options),
      ),
    apply: (type, object, options) =>
      around({ verb: "apply", subresource: options.subresource ?? "" }, targetOf(type, object.metadata), () =>
        client.apply(type, object, options),
      ),
    delete: (type, key, options) =>
      around({ verb: "delete", subresource: "" }, targetOf(type, key), () => client.delete(type, key, options)),
  };
}

interface Target {
  readonly kind: string;
  readonly name: string;
}

const targetOf = ({ kind }: ResourceType, key: Partial<ObjectKey> | undefined): Target => ({
  kind,
  name: key?.name ?? "",
});
