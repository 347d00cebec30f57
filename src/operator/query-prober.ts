// Puts the prober that asks pods for their queries into the manager: it works while this process leads, and ends with it.
import type { Clock, Logger } from "@firebolt-operator/kube";
import type { KubeClient } from "@firebolt-operator/kube/client";
import type { Manager } from "@firebolt-operator/kube/controller";
import { podScraper } from "../engine/probe/pod-scraper.ts";
import type { QueryProber } from "../engine/probe/query-probe.ts";
import { createQueryProber } from "../engine/probe/query-prober.ts";

export interface QueryProberParts {
  /** Of the prober alone: pods that do not respond hold its sockets. */
  readonly client: Pick<KubeClient, "podProxyGet">;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function addQueryProber(
  manager: Pick<Manager, "add">,
  { client, clock, logger }: QueryProberParts,
): QueryProber {
  const ended = new AbortController();
  const prober = createQueryProber({
    scrape: podScraper(client),
    clock,
    signal: ended.signal,
    logger: logger.with({ logger: "query-prober" }),
  });
  manager.add({
    name: "query-prober",
    group: "leader-services",
    run: (signal) =>
      new Promise((resolve) => {
        const end = (): void => {
          ended.abort(signal.reason);
          resolve();
        };
        if (signal.aborted) end();
        else signal.addEventListener("abort", end, { once: true });
      }),
  });
  return prober;
}
