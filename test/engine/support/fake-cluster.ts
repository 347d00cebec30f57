// An engine and its instance in memory, with passes of the real reconciler: shared by the unit tests of whole passes.
// The clock is manual; pods follow their StatefulSets on request of a test.
import { silentLogger } from "@firebolt-operator/kube";
import type { NextCheck } from "@firebolt-operator/kube/controller";
import type { EngineSpec } from "../../../src/api/firebolt-engine/engine.ts";
import { OPERATOR_DEFAULTS } from "../../../src/api/operator-defaults.ts";
import { noEngineMetrics } from "../../../src/engine/metrics-hooks.ts";
import { runEnginePass } from "../../../src/engine/pass/pass.ts";
import { FakeEngineStore } from "./fake-engine-store.ts";
import { engine, instance, NOW_MS } from "./fixtures.ts";

const PASSES_AT_MOST = 30;
const AT_REST_MS = 30_000;

export class FakeEngineCluster extends FakeEngineStore {
  nowMs = NOW_MS;
  /** Reasons of the events recorded so far. */
  readonly events: string[] = [];

  get status() {
    return this.get("FireboltEngine", "e")?.status;
  }

  get ready() {
    return this.status?.conditions?.find(({ type }) => type === "Ready");
  }

  /** The requests since the last call. */
  taken(): readonly string[] {
    return this.requests.splice(0);
  }

  edit(spec: Partial<EngineSpec>): void {
    const stored = this.get("FireboltEngine", "e");
    if (stored?.spec === undefined) throw new Error("there is no engine to edit");
    const generation = (stored.metadata?.generation ?? 0) + 1;
    this.put("FireboltEngine", {
      ...stored,
      metadata: { ...stored.metadata, generation },
      spec: { ...stored.spec, ...spec },
    });
  }

  pass(): Promise<NextCheck> {
    return runEnginePass(
      this,
      { namespace: "ns", name: "e" },
      {
        defaults: OPERATOR_DEFAULTS,
        bounds: {},
        drainSettleMs: 0,
        nowMs: () => this.nowMs,
        events: { record: ({ reason }) => this.events.push(reason) },
        metrics: noEngineMetrics,
        logger: silentLogger,
      },
    );
  }

  /** Passes, with pods that follow at once, until the engine is at rest. */
  async run(): Promise<void> {
    for (let count = 0; count < PASSES_AT_MOST; count++) {
      const next = await this.pass();
      this.settle();
      if (typeof next === "object" && next.afterMs >= AT_REST_MS) return;
    }
    throw new Error(`not at rest after ${PASSES_AT_MOST} passes: ${JSON.stringify(this.status)}`);
  }
}

/** A new engine with a usable instance; no pass has run. */
export function cluster(spec: Partial<EngineSpec> = {}): FakeEngineCluster {
  const world = new FakeEngineCluster();
  world.put("FireboltInstance", instance());
  world.put("FireboltEngine", engine({ metadata: { finalizers: [] }, spec }));
  return world;
}

/** The same at rest on generation 0, with no requests since. */
export async function stable(spec: Partial<EngineSpec> = {}): Promise<FakeEngineCluster> {
  const world = cluster(spec);
  await world.run();
  world.taken();
  return world;
}

/** The part of a spec that names an image. */
export const image = (reference: string): Partial<EngineSpec> => ({
  template: { spec: { containers: [{ name: "engine", image: reference }] } },
});
