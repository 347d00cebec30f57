// Small pieces for tests against a real API server: waiting for a condition, namespaces of one's own, and requests as any user.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type ApiAnswer, type ApiRequest, openApiFromKubeconfig } from "@firebolt-operator/kube/testing";
import { inject } from "vitest";

const POLL_MS = 50;
const TIMEOUT_MS = 20_000;

export interface EventuallyOptions {
  readonly timeoutMs?: number;
  /** What is waited for, for the message when it never comes. */
  readonly describe?: string;
  /** Between two looks. Those that cost the cluster something are to be rare. */
  readonly pollMs?: number;
}

/**
 * Runs `check` until it neither throws nor answers false, and answers what it answered. Past the deadline it fails with the
 * last failure as the cause. Not even `undefined` means "not yet": a check made of `expect` calls answers nothing.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { timeoutMs = TIMEOUT_MS, describe = "the condition", pollMs = POLL_MS }: EventuallyOptions = {},
): Promise<Exclude<T, false>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    let failure: unknown;
    try {
      const value = await check();
      if (isTrue(value)) return value;
      failure = new Error("it was false");
    } catch (error) {
      failure = error;
    }
    if (performance.now() > deadline) {
      const why = failure instanceof Error ? failure.message : String(failure);
      throw new Error(`${describe} did not come true within ${timeoutMs} ms: ${why}`, { cause: failure });
    }
    await sleep(pollMs);
  }
}

const isTrue = <T>(value: T): value is Exclude<T, false> => value !== false;

/** One request with the certificate of this kubeconfig; fails unless the status is 2xx or one of `accept`. */
export async function requestAs(
  kubeconfig: string,
  request: ApiRequest,
  accept: readonly number[] = [],
): Promise<ApiAnswer> {
  const api = openApiFromKubeconfig(kubeconfig);
  try {
    return await api.expect(request, accept);
  } finally {
    api.close();
  }
}

/** One request as administrator of the shared control plane. */
export function adminRequest(request: ApiRequest, accept: readonly number[] = []): Promise<ApiAnswer> {
  return requestAs(inject("adminKubeconfig"), request, accept);
}

/** A namespace name that no other test uses. */
export function uniqueNamespace(prefix: string): string {
  return `${prefix}-${randomBytes(4).toString("hex")}`;
}

/** Makes a namespace that no other test uses; answers its name. */
export async function createNamespace(prefix: string, kubeconfig = inject("adminKubeconfig")): Promise<string> {
  const name = uniqueNamespace(prefix);
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
  await requestAs(kubeconfig, { method: "POST", path: "/api/v1/namespaces", body });
  return name;
}
