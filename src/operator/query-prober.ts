// Adds the prober that reads running queries from pods to the manager: it runs while this process leads.
import type { Clock, Logger } from "@firebolt-operator/kube";
import type { KubeClient } from "@firebolt-operator/kube/client";
import type { Manager } from "@firebolt-operator/kube/controller";
import { podScraper } from "../engine/probe/pod-scraper.ts";
import type { QueryProber } from "../engine/probe/query-probe.ts";
import { createQueryProber } from "../engine/probe/query-prober.ts";
import { leaderSignal } from "./leader-signal.ts";

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
  return createQueryProber({
    scrape: podScraper(client),
    clock,
    signal: leaderSignal(manager, "query-prober"),
    logger: logger.with({ logger: "query-prober" }),
  });
}
