// The admission of queries over caches in memory, with an API server and a gateway whose responses the test sets.
import { silentLogger } from "@firebolt-operator/kube";
import { ManualClock, MemoryCache } from "@firebolt-operator/kube/testing";
import { AbsenceCheck } from "../../../src/wake-agent/absence-check.ts";
import { Demand } from "../../../src/wake-agent/demand.ts";
import { EngineView, indexSlices, WatchHealth } from "../../../src/wake-agent/engine-view.ts";
import { HoldAdmission } from "../../../src/wake-agent/hold/admission.ts";
import { HoldQueue } from "../../../src/wake-agent/hold/queue.ts";
import { EndpointSlice, trimSlice, WatchedEngine } from "../../../src/wake-agent/kinds.ts";
import { ReachabilityProbe, type Reached } from "../../../src/wake-agent/reachability-probe.ts";
import { WakeRequester } from "../../../src/wake-agent/wake-requester.ts";

const CONNECTED = new AbortController().signal;

export class AdmissionFixture {
  readonly clock = new ManualClock();
  readonly engines = new MemoryCache(WatchedEngine);
  readonly slices = new MemoryCache(EndpointSlice, indexSlices.engine);
  readonly watchHealth = { engines: new WatchHealth(), slices: new WatchHealth() };
  readonly view = new EngineView({
    namespace: "ns",
    engines: this.engines,
    slices: this.slices,
    watchHealth: this.watchHealth,
    firstEpoch: 1,
  });
  readonly queue = new HoldQueue(this.clock);
  readonly demand = new Demand({
    clock: this.clock,
    retentionMs: 600_000,
    heldCount: (engine) => this.queue.countOf(engine),
  });
  /** Engines of accepted wake requests. */
  readonly requested: string[] = [];
  /** Why wake requests are not written; undefined: they are. */
  refusal: Error | undefined;
  reached: Reached = "yes";
  attempts = 0;
  capacity = 10;
  /** The engines of the API server when it is read directly; "unreachable": it does not respond. */
  stored: Set<string> | "unreachable" = new Set();
  readonly confirmations: string[] = [];
  readonly admission: HoldAdmission;

  constructor() {
    const { clock, view, queue, demand } = this;
    const logger = silentLogger;
    view.open();
    const wakeRequester = new WakeRequester({
      clock,
      logger,
      waiting: queue,
      engine: (name) => view.engine(name),
      write: async (name) => {
        if (this.refusal !== undefined) throw this.refusal;
        this.requested.push(name);
      },
    });
    wakeRequester.open(CONNECTED);
    const attempt = async (): Promise<Reached> => {
      this.attempts++;
      return this.reached;
    };
    const probe = new ReachabilityProbe({ clock, logger, view, queue, attempt, signal: CONNECTED });
    const absence = new AbsenceCheck({
      clock,
      logger,
      signal: CONNECTED,
      progress: () => view.progress,
      exists: async (name) => {
        this.confirmations.push(name);
        if (this.stored === "unreachable") throw new Error("no response within 1 s");
        return this.stored.has(name);
      },
    });
    const capacity = () => this.capacity;
    this.admission = new HoldAdmission({
      view,
      absence,
      queue,
      probe,
      demand,
      wakeRequester,
      capacity,
      holdTimeoutMs: 120_000,
    });
  }

  /** Both watches have completed their first list. */
  sync(): void {
    this.watchHealth.engines.observer.relisted?.("start" as never);
    this.watchHealth.slices.observer.relisted?.("start" as never);
  }

  putEngine(name: string, replicas: number, phase = replicas === 0 ? "stopped" : "stable"): void {
    const status = { phase, activeGeneration: 0 };
    this.engines.put({ metadata: { name, namespace: "ns" }, spec: { replicas }, status });
  }

  putEndpoint(engine: string, ready: boolean): void {
    const labels = { "kubernetes.io/service-name": `${engine}-service` };
    const endpoints = [{ targetRef: { name: `${engine}-g0-0` }, conditions: { ready } }];
    this.slices.put(trimSlice({ metadata: { name: `${engine}-slice`, namespace: "ns", labels }, endpoints }));
  }

  hold(engine = "e", disconnected = CONNECTED) {
    return this.admission.hold(engine, disconnected);
  }
}
