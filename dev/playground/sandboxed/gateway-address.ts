// The current address of an instance's gateway Service. An instance that is deleted and created again has a Service with another address, and
// the URL that was printed at the start must keep working.
import { openApiFromKubeconfig, valueAt } from "@firebolt-operator/kube/testing";
import { gatewayName } from "../../../src/instance/model/names.ts";
import { stringOf } from "../../sandbox/calls.ts";
import type { Endpoint } from "../../sandbox/port-forwards.ts";

/** Long enough for a burst of connections, too short to be noticed. */
const FRESH_MS = 1_000;

export interface GatewayAddress extends Disposable {
  /** Fails while there is no such Service. */
  readonly read: () => Promise<Endpoint>;
}

export function createGatewayAddress(kubeconfig: string, input: unknown): GatewayAddress {
  const [namespace, instance] = [stringOf(input, "namespace"), stringOf(input, "instance")];
  const path = `/api/v1/namespaces/${namespace}/services/${gatewayName(instance)}`;
  const api = openApiFromKubeconfig(kubeconfig);
  let last: { readonly atMs: number; readonly target: Promise<Endpoint> } | undefined;
  const load = async (): Promise<Endpoint> => {
    const { body } = await api.expect({ path });
    const [host, port] = [valueAt(body, ["spec", "clusterIP"]), valueAt(body, ["spec", "ports", 0, "port"])];
    if (typeof host !== "string" || typeof port !== "number") throw new Error(`${path} has no address and port`);
    return { host, port };
  };
  return {
    read() {
      const atMs = performance.now();
      if (last === undefined || atMs - last.atMs > FRESH_MS) last = { atMs, target: load() };
      return last.target;
    },
    [Symbol.dispose]: () => api.close(),
  };
}
