// Where the gateway of an instance is just now: the Service's own address, over whose pods kube-proxy balances. An instance that is deleted and
// created again has a Service with another address, and what was printed at the start must go on working.
import { openApiFromKubeconfig, valueAt } from "@firebolt-operator/kube/testing";
import { gatewayName } from "../../../src/instance/names.ts";
import type { Target } from "../../local-cluster/doors.ts";
import { textOf } from "../calls.ts";

/** Long enough for a burst of connections, too short for anybody to notice. */
const FRESH_MS = 1_000;

export interface GatewayAddress extends Disposable {
  /** Fails while there is no such Service. */
  readonly read: () => Promise<Target>;
}

export function createGatewayAddress(kubeconfig: string, input: unknown): GatewayAddress {
  const [namespace, instance] = [textOf(input, "namespace"), textOf(input, "instance")];
  const path = `/api/v1/namespaces/${namespace}/services/${gatewayName(instance)}`;
  const api = openApiFromKubeconfig(kubeconfig);
  let last: { readonly atMs: number; readonly target: Promise<Target> } | undefined;
  const load = async (): Promise<Target> => {
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
