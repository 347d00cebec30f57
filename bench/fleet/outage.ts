// The API server is down for a minute, with a fleet at rest: the requests when it is back (a burst would keep it down),
// and the time until an edit made right then is acted on. Once as the chart installs the operator, with a lease (the
// process exits when it cannot renew, and is restarted), and once without one (the process and its watches continue).
import { setTimeout as sleep } from "node:timers/promises";
import { type RequestCount, total } from "./audit-counter.ts";
import { createInstance, engineNames, image, isReadyOn, openFleet } from "./engine-fleet.ts";
import { openHarness, type Progress } from "./harness.ts";
import { supervise } from "./supervised.ts";

export interface Outage {
  readonly engines: number;
  readonly awaySeconds: number;
  readonly restarts: number;
  /** From the moment the API server was ready again to the first write for the edited engine. */
  readonly reactionMs: number;
  /** In the minute after that moment. */
  readonly requests: RequestCount;
  readonly requestsInAll: number;
}

export interface OutageOptions {
  readonly engines: number;
  readonly awaySeconds: number;
  readonly lease: boolean;
}

const AFTER_MS = 60_000;
const DEADLINE_MS = 600_000;

export async function measureOutage(progress: Progress, options: OutageOptions): Promise<Outage> {
  const { engines, awaySeconds, lease } = options;
  await using harness = await openHarness({ progress });
  await using supervised = await supervise(harness, { flags: lease ? [] : ["--leader-elect=false"] });
  await supervised.operator.untilLeading();
  await createInstance(harness);
  await using fleet = await openFleet(harness);
  const names = engineNames(engines);
  const awaited = (describe: string) => ({ describe, timeoutMs: DEADLINE_MS });
  await fleet.create(names);
  await fleet.until(names, isReadyOn(0), awaited("Ready"));
  await sleep(5_000);
  progress(`stopping the API server for ${awaySeconds} s`);
  await harness.plane.stopApiServer();
  await sleep(awaySeconds * 1_000);
  harness.audit.take();
  await harness.plane.startApiServer();
  const backMs = performance.now();
  progress("the API server is back");
  const [first = ""] = names;
  const noticed = (async (): Promise<number> => {
    await editWhenPossible(() => fleet.edit([first], image("after")));
    await fleet.until([first], ({ status }) => (status?.currentGeneration ?? 0) >= 1, awaited("noticed"));
    return Math.round(performance.now() - backMs);
  })();
  const [reactionMs] = await Promise.all([noticed, sleep(AFTER_MS)]);
  const requests = harness.audit.take();
  const requestsInAll = [requests.work, requests.watches, requests.lease, requests.serving].reduce(
    (sum, counts) => sum + total(counts),
    0,
  );
  return { engines, awaySeconds, restarts: supervised.restarts, reactionMs, requests, requestsInAll };
}

/** Until the operator's webhooks respond, an edit is rejected. */
async function editWhenPossible(edit: () => Promise<void>): Promise<void> {
  const deadlineMs = performance.now() + DEADLINE_MS;
  for (;;) {
    try {
      return await edit();
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
      await sleep(200);
    }
  }
}
