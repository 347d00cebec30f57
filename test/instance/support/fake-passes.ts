// Runs passes of the instance's reconciler over a fake cluster in memory; the test plays the other controllers.
import { silentLogger } from "@firebolt-operator/kube";
import type { NextCheck } from "@firebolt-operator/kube/controller";
import type { EventNote } from "@firebolt-operator/kube/events";
import type { FireboltInstance } from "../../../src/api/firebolt-instance/instance.ts";
import { OPERATOR_DEFAULTS } from "../../../src/api/operator-defaults.ts";
import type { InstanceKey } from "../../../src/instance/cluster/instance-cluster.ts";
import type { InstancePassRecord } from "../../../src/instance/metrics-hooks.ts";
import { InstanceMemories } from "../../../src/instance/model/memory.ts";
import { runInstancePass } from "../../../src/instance/pass/pass.ts";
import type { RenderSettings } from "../../../src/instance/render/instance-objects.ts";
import { Crash, FakeInstanceStore } from "./fake-instance-store.ts";

export const KEY = { namespace: "ns", name: "lakeside" };

export class InstanceRun {
  readonly world = new FakeInstanceStore();
  readonly events: EventNote[] = [];
  readonly passes: InstancePassRecord[] = [];
  nowMs = Date.UTC(2026, 0, 1);
  /** The flags; changed between passes as if the process had been restarted. */
  settings: RenderSettings = { images: OPERATOR_DEFAULTS.images, metadataConfigFormat: "xml" };
  #memories = new InstanceMemories();

  readonly key: InstanceKey;

  constructor(spec: Partial<FireboltInstance["spec"]> = {}, key: InstanceKey = KEY) {
    this.key = key;
    const stored = {
      metadataNG: false,
      metadata: { engineRegistration: false },
      gateway: { metricsPort: 9090 },
      ...spec,
    };
    this.world.put("FireboltInstance", { metadata: { name: this.key.name, uid: "uid-1" }, spec: stored });
  }

  /** Another process takes over, with empty memory. */
  restart(): void {
    this.#memories = new InstanceMemories();
  }

  pass(): Promise<NextCheck> {
    return runInstancePass(this.world, this.key, {
      settings: this.settings,
      memories: this.#memories,
      nowMs: () => this.nowMs,
      events: { record: (event) => this.events.push(event) },
      metrics: { passEnded: (record) => this.passes.push(record), removed: () => undefined },
      logger: silentLogger,
    });
  }

  /** One pass, which returns its failure; the clock advances. */
  async tryPass(): Promise<NextCheck | Error> {
    this.nowMs += 1_000;
    try {
      return await this.pass();
    } catch (error) {
      if (error instanceof Crash || !(error instanceof Error)) throw error;
      return error;
    }
  }

  /** Passes until two in a row send no request, with every Deployment serving. */
  async settle(serving: Readonly<Record<string, number>> = { metadata: 1, gateway: 2 }): Promise<void> {
    for (let quiet = 0, rounds = 0; quiet < 2; rounds++) {
      if (rounds > 50) throw new Error(`not at rest after 50 passes: ${this.world.requests.slice(-10).join(", ")}`);
      for (const [component, ready] of Object.entries(serving))
        this.world.report(`${this.key.name}-${component}`, ready);
      const before = this.world.requests.length;
      await this.pass();
      this.nowMs += 1_000;
      quiet = this.world.requests.length === before ? quiet + 1 : 0;
    }
  }

  /** Forgets the requests so far. */
  forgetRequests(): void {
    this.world.requests.length = 0;
  }

  get instance(): FireboltInstance {
    const found = this.world.get("FireboltInstance", this.key.name);
    if (found === undefined) throw new Error("the instance does not exist");
    return found;
  }

  get status(): NonNullable<FireboltInstance["status"]> {
    return this.instance.status ?? {};
  }

  condition(type: string) {
    const found = this.status.conditions?.find((condition) => condition.type === type);
    return found === undefined ? undefined : `${found.status}/${found.reason}`;
  }

  message(type: string): string {
    return this.status.conditions?.find((condition) => condition.type === type)?.message ?? "";
  }
}
