// The two ways to a pod's metrics: its IP, or the API server's pods/proxy. Both with the same limits: 3 s to connect, 3
// s to the response headers, 10 s in total. Interprets nothing of what it reads.
import type { KubeClient } from "@firebolt-operator/kube/client";
import { ENGINE_CONTRACT } from "../../api/engine-contract.ts";
import { SCRAPE_LIMITS, scrapePod } from "../cluster/pod-scrape.ts";
import { METRICS_PORT } from "../model/pod-contract.ts";
import type { ScrapePod } from "./query-probe.ts";

const [port, path] = [METRICS_PORT, ENGINE_CONTRACT.endpoints.metrics];

/** The client must be the prober's own: requests to pods that do not respond hold its sockets. */
export function podScraper(client: Pick<KubeClient, "podProxyGet">): ScrapePod {
  return ({ metadata, status }, mode, signal) => {
    if (mode === "PodIP") {
      const host = status?.podIP ?? "";
      return host === "" ? Promise.reject(new Error("the pod has no IP")) : scrapePod({ host, port, path }, signal);
    }
    const { namespace = "", name: pod = "" } = metadata ?? {};
    const { firstByteMs, totalMs: timeoutMs, bytes: maxBytes } = SCRAPE_LIMITS;
    return client.podProxyGet({ namespace, pod, port, path, signal, firstByteMs, timeoutMs, maxBytes });
  };
}
