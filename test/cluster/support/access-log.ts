// Access log lines of failed requests, with Envoy's flags and details, by the id in the request path. Read only after a
// failure; the log of a deleted gateway pod is lost.
import { setTimeout as sleep } from "node:timers/promises";
import { type Api, valueAt } from "@firebolt-operator/kube/testing";
import type { Failure } from "./load-tally.ts";

/** Envoy writes its log at least this often. */
const FLUSHED_MS = 10_500;
const MOST_BYTES = 50_000_000;

export interface AccessLogSource {
  readonly api: Api;
  readonly namespace: string;
  readonly instance: string;
}

/** The same failures, with their lines where there is one. */
export async function withAccessLog(
  { api, namespace, instance }: AccessLogSource,
  failures: readonly Failure[],
): Promise<readonly Failure[]> {
  if (failures.length === 0) return [];
  await sleep(FLUSHED_MS);
  const selector = encodeURIComponent(`firebolt.io/instance=${instance},firebolt.io/component=gateway`);
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const { body } = await api.expect({ path: `${pods}?labelSelector=${selector}` });
  const items = valueAt(body, ["items"]);
  const lines: string[] = [];
  for (const pod of Array.isArray(items) ? items : []) {
    const name = String(valueAt(pod, ["metadata", "name"]));
    const path = `${pods}/${name}/log?container=envoy&limitBytes=${MOST_BYTES}`;
    const { status, body: text } = await api.send({ path, as: "text" });
    if (status === 200)
      lines.push(
        ...String(text)
          .split("\n")
          .map((line) => `${name}: ${line}`),
      );
  }
  return failures.map((failure) => {
    const accessLog = lines.find((line) => line.includes(`query_label=${failure.id} `));
    return accessLog === undefined ? failure : { ...failure, accessLog };
  });
}
