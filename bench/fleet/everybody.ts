// What everybody together has asked of the API server, by its own counters: the operator, whoever edits the engines, and Kubernetes'
// controllers for the objects that come and go. Watches and leases are left out: they belong to time and not to work.
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
    // A page without the counter would look like a quiet cluster.
    if (total(counts) === 0) throw new Error("the API server's metrics page has no apiserver_request_total");
    return counts;
  } finally {
    api.close();
  }
}

export function since(before: Counts, now: Counts): Counts {
  const changes = Object.entries(now).map(([what, count]) => [what, count - (before[what] ?? 0)] as const);
  return Object.fromEntries(changes.filter(([, count]) => count > 0));
}
