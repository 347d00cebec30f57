// A cluster in memory with auto-stop and a clock that the test moves: whole passes of the reconciler over one engine.
import { silentLogger } from "@firebolt-operator/kube";
import type { NextCheck } from "@firebolt-operator/kube/controller";
import { ENGINE_CONTRACT } from "../../../src/api/engine-contract.ts";
import type { AutoStop } from "../../../src/api/firebolt-engine/auto-stop.ts";
import { OPERATOR_DEFAULTS } from "../../../src/api/operator-defaults.ts";
import type { EngineCluster } from "../../../src/engine/cluster/engine-cluster.ts";
import { noEngineMetrics } from "../../../src/engine/metrics-hooks.ts";
import { runEnginePass } from "../../../src/engine/pass/pass.ts";
import { FakeEngineCluster } from "./fake-cluster.ts";
import { engine, instance } from "./fixtures.ts";

const GAUGE = ENGINE_CONTRACT.gauges;

export const MINUTE = 60_000;
export const POLICY: AutoStop = {
  enabled: true,
  activeReplicas: 2,
  idleReplicas: 0,
  idleTimeout: "30m",
  pollInterval: "1m",
};
/** The metrics of an engine with that many queries. */
export const pageOf = (queries: number): string => `${GAUGE.running} ${queries}\n${GAUGE.suspended} 0\n`;
/** As times are stored. */
export const text = (ms: number): string => new Date(ms).toISOString().replace(".000Z", "Z");

export class FakeTimedCluster extends FakeEngineCluster {
  drainSettleMs = 0;
  readonly scaled: string[] = [];
  note: (reason: string, note: string) => void = () => undefined;
  wakeDemand: EngineCluster["wakeDemand"] & {} = () => undefined;

  override pass(): Promise<NextCheck> {
    const { defaults, bounds } = { defaults: OPERATOR_DEFAULTS, bounds: {} };
    const metrics = {
      ...noEngineMetrics,
      scaled: (_: unknown, direction: string, reason: string) => void this.scaled.push(`${direction} ${reason}`),
    };
    const events = {
      record: ({ reason, note }: { readonly reason: string; readonly note: string }) => {
        this.events.push(reason);
        this.note(reason, note);
      },
    };
    return runEnginePass(
      this,
      { namespace: "ns", name: "e" },
      {
        defaults,
        bounds,
        drainSettleMs: this.drainSettleMs,
        nowMs: () => this.nowMs,
        events,
        metrics,
        logger: silentLogger,
      },
    );
  }

  /** Passes until nothing is left to do at once. */
  async rest(): Promise<NextCheck> {
    for (let count = 0; count < 40; count++) {
      const next = await this.pass();
      this.settle();
      const { phase } = this.status ?? {};
      if (next !== "requeue" && (phase === "stable" || phase === "stopped")) return next;
    }
    throw new Error(`no rest: ${JSON.stringify(this.status)}`);
  }

  get replicas(): number | undefined {
    return this.get("FireboltEngine", "e")?.spec?.replicas;
  }

  /** A time, or a value as a user might write it. */
  stamp(value: number | string): void {
    const stored = this.get("FireboltEngine", "e");
    if (stored === undefined) throw new Error("no engine");
    const annotations = { "firebolt.io/wake-requested": typeof value === "string" ? value : text(value) };
    this.put("FireboltEngine", { ...stored, metadata: { ...stored.metadata, annotations } });
  }
}

/** An engine under the policy that has come to rest. */
export async function resting(autoStop: Partial<AutoStop> | undefined = {}, replicas = 2): Promise<FakeTimedCluster> {
  const world = new FakeTimedCluster();
  world.put("FireboltInstance", instance());
  const spec = { replicas, ...(autoStop === undefined ? {} : { autoStop: { ...POLICY, ...autoStop } }) };
  world.put("FireboltEngine", engine({ metadata: { finalizers: [] }, spec }));
  await world.rest();
  await world.rest();
  world.taken();
  return world;
}

/** An engine without a policy that has come to rest. */
export async function timed(): Promise<FakeTimedCluster> {
  const world = new FakeTimedCluster();
  world.put("FireboltInstance", instance());
  world.put("FireboltEngine", engine({ metadata: { finalizers: [] } }));
  await world.run();
  world.taken();
  return world;
}
