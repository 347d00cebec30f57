// The scheme of a forwarded port: `https`, `http`, or unknown while TLS is being switched. Pure.
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";

export type Scheme = "https" | "http" | undefined;

export function gatewayScheme({ spec, status }: FireboltInstance): Scheme {
  if (status?.gatewayTLS !== undefined) return "https";
  return spec.tls?.gateway?.enabled === true ? undefined : "http";
}

export function engineScheme(instance: FireboltInstance | undefined): Scheme {
  const requested = instance?.spec.tls?.engine?.enabled === true;
  const state = instance?.status?.engineTLS;
  if (requested) return state?.reencrypting === true ? "https" : undefined;
  return state === undefined ? "http" : undefined;
}

/** `https://localhost:8080`, or `localhost:8080` when the scheme is not known. */
export function addressText(scheme: Scheme, port: number): string {
  return `${scheme === undefined ? "" : `${scheme}://`}localhost:${port}`;
}
