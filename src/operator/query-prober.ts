// Adds the prober that reads running queries from pods to the manager: it runs while this process leads.
import type { Clock, Logger } from "@firebolt-operator/kube";
import type { KubeClient } from "@firebolt-operator/kube/client";
import type { Manager } from "@firebolt-operator/kube/controller";
import { podScraper } from "../engine/probe/pod-scraper.ts";
import type { QueryProber } from "../engine/probe/query-probe.ts";
import { createQueryProber } from "../engine/probe/query-prober.ts";

export interface QueryProberParts {
  /** The prober's own: pods that do not respond occupy its sockets. */
  readonly client: Pick<KubeClient, "podProxyGet">;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function addQueryProber(
  manager: Pick<Manager, "add">,
  { client, clock, logger }: QueryProberParts,
): QueryProber {
  const stopped = new AbortController();
  const prober = createQueryProber({
    scrape: podScraper(client),
    clock,
    signal: stopped.signal,
    logger: logger.with({ logger: "query-prober" }),
  });
  manager.add({
    name: "query-prober",
    group: "leader-services",
    run: (signal) =>
      new Promise((resolve) => {
        const stop = (): void => {
          stopped.abort(signal.reason);
          resolve();
        };
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop, { once: true });
      }),
  });
  return prober;
}
