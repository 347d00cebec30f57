// All requests to the API server, from its own counters: those of the operator, of the users who edit engines, and of
// Kubernetes' controllers. Watches and leases are left out: they depend on time, not on work.
import { openApiFromKubeconfig } from "@firebolt-operator/kube/testing";
import { type Counts, total } from "./audit-counter.ts";
import type { Harness } from "./harness.ts";

const SAMPLE = /^apiserver_request_total\{(.*)\} (\S+)$/gm;

/** Requests since the API server started, by `verb resource`. */
export async function countEverybody({ plane }: Pick<Harness, "plane">): Promise<Counts> {
  const api = openApiFromKubeconfig(plane.adminKubeconfig);
  try {
    const { body } = await api.expect({ path: "/metrics", as: "text" });
    const counts: Record<string, number> = {};
    for (const [, labels = "", value] of String(body).matchAll(SAMPLE)) {
      const label = (name: string): string => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? "";
      const [verb, resource, subresource] = [label("verb"), label("resource"), label("subresource")];
      if (resource === "" || resource === "leases" || verb === "WATCH") continue;
      const what = `${verb.toLowerCase()} ${resource}${subresource === "" ? "" : `/${subresource}`}`;
      counts[what] = (counts[what] ?? 0) + Number(value);
    }
    // A response without the counter would look like an idle cluster.
    if (total(counts) === 0) throw new Error("the API server's metrics have no apiserver_request_total");
    return counts;
  } finally {
    api.close();
  }
}

export function since(before: Counts, now: Counts): Counts {
  const changes = Object.entries(now).map(([what, count]) => [what, count - (before[what] ?? 0)] as const);
  return Object.fromEntries(changes.filter(([, count]) => count > 0));
}
