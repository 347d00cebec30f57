// Two replicas with the lease timing of the chart: how long no replica reconciles after the leader is killed, and after
// a clean shutdown. An engine is edited at that moment; the gap ends with the first write of the other replica for it.
import { setTimeout as sleep } from "node:timers/promises";
import { holderOf, leaseResource } from "@firebolt-operator/kube/election";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { createInstance, type EngineFleet, image, isReadyOn, openFleet } from "./engine-fleet.ts";
import { type Harness, openHarness, type Progress, SYSTEM_NAMESPACE } from "./harness.ts";
import { type Operator, startOwnOperator } from "./operator.ts";
import { type Percentiles, percentiles } from "./percentiles.ts";
import { forwardToLive } from "./service-forwarder.ts";

export interface FailOver {
  readonly sigkill: Gap;
  readonly sigterm: Gap;
}

/** Milliseconds from the signal. */
export interface Gap {
  /** Until the other replica holds the lease. */
  readonly leads: Percentiles;
  /** Until its first write for the engine that was edited meanwhile. */
  readonly acts: Percentiles;
}

/** All replicas share one network namespace here, so each has its own ports, unlike pods. */
const REPLICAS = [
  { webhook: 9444, probe: 8081, metrics: 8443 },
  { webhook: 9445, probe: 8082, metrics: 8444 },
] as const;
const WEBHOOK_SERVICE_PORT = 9443;
const DEADLINE_MS = 120_000;
const CALM_MS = 3_000;
const LEASE_LOOK_MS = 50;
const ENGINE = "watched";

type Replica = (typeof REPLICAS)[number];

export async function measureFailOver(progress: Progress, rounds: number): Promise<FailOver> {
  await using harness = await openHarness({ progress });
  await using _service = await forwardToLive(
    WEBHOOK_SERVICE_PORT,
    REPLICAS.map(({ webhook }) => webhook),
  );
  let [leading, waiting]: [Replica, Replica] = [...REPLICAS];
  let leader = await start(harness, leading);
  await leader.untilLeading();
  let standby = await start(harness, waiting);
  await using fleet = await openFleet(harness);
  try {
    await createInstance(harness);
    await fleet.create([ENGINE]);
    await fleet.until([ENGINE], isReadyOn(0), { describe: ENGINE, timeoutMs: DEADLINE_MS });
    const gaps = { SIGKILL: [] as Measured[], SIGTERM: [] as Measured[] };
    let generation = 0;
    for (let round = 0; round < 2 * rounds; round++) {
      const signal = round % 2 === 0 ? "SIGKILL" : "SIGTERM";
      await sleep(CALM_MS);
      generation += 1;
      const measured = await gap({ fleet, leader, signal, harness, generation });
      gaps[signal].push(measured);
      progress(
        `${signal}: leads after ${Math.round(measured.leadsMs)} ms, acts after ${Math.round(measured.actsMs)} ms`,
      );
      const describe = `${ENGINE} on generation ${generation}`;
      await fleet.until([ENGINE], isReadyOn(generation), { describe, timeoutMs: DEADLINE_MS });
      [leading, waiting] = [waiting, leading];
      leader = standby;
      standby = await start(harness, waiting);
    }
    return { sigkill: merged(gaps.SIGKILL), sigterm: merged(gaps.SIGTERM) };
  } finally {
    await Promise.all([leader.stop(), standby.stop()]);
  }
}

function start(harness: Harness, { webhook, probe, metrics }: Replica): Promise<Operator> {
  const flags = [
    `--webhook-port=${webhook}`,
    `--health-probe-bind-address=:${probe}`,
    `--metrics-bind-address=:${metrics}`,
  ];
  return startOwnOperator(harness, { flags, probePort: probe, name: `replica-${probe}` });
}

interface GapInput {
  readonly harness: Harness;
  readonly fleet: EngineFleet;
  readonly leader: Operator;
  readonly signal: "SIGKILL" | "SIGTERM";
  readonly generation: number;
}

interface Measured {
  readonly leadsMs: number;
  readonly actsMs: number;
}

const merged = (gaps: readonly Measured[]): Gap => ({
  leads: percentiles(gaps.map(({ leadsMs }) => leadsMs)),
  acts: percentiles(gaps.map(({ actsMs }) => actsMs)),
});

async function gap({ harness, fleet, leader, signal, generation }: GapInput): Promise<Measured> {
  const before = await leaseHolder(harness);
  const startedMs = performance.now();
  const acted = async (): Promise<number> => {
    // A leader that shuts down may still write: what counts is the first write after it has exited.
    await leader.stop(signal);
    await fleet.edit([ENGINE], image(`g${generation}`));
    const what = { describe: `${FireboltEngine.kind} ${ENGINE} noticed`, timeoutMs: DEADLINE_MS };
    await fleet.until([ENGINE], ({ status }) => status?.currentGeneration === generation, what);
    return performance.now();
  };
  const [actsMs, leadsMs] = await Promise.all([acted(), untilAnotherLeads(harness, before)]);
  return { leadsMs: leadsMs - startedMs, actsMs: actsMs - startedMs };
}

/** Time at which another replica holds the lease. */
async function untilAnotherLeads(harness: Harness, before: string | undefined): Promise<number> {
  const deadlineMs = performance.now() + DEADLINE_MS;
  for (;;) {
    const holder = await leaseHolder(harness);
    if (holder !== undefined && holder !== before) return performance.now();
    if (performance.now() > deadlineMs)
      throw new Error(`the lease is held by ${holder ?? "no replica"} after ${DEADLINE_MS} ms`);
    await sleep(LEASE_LOOK_MS);
  }
}

/** There is one lease in the operator's namespace. */
async function leaseHolder({ client }: Harness): Promise<string | undefined> {
  const { items } = await client.list(leaseResource, { namespace: SYSTEM_NAMESPACE });
  return items[0] === undefined ? undefined : holderOf(items[0]);
}
