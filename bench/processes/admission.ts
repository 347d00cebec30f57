// The webhook server of the admission benchmark, as a separate process: prints its address, measures every response,
// and reports on request. Argument: the kubeconfig.
import { silentLogger, systemClock } from "@firebolt-operator/kube";
import { inspectPair, PairHolder } from "@firebolt-operator/kube/certificates";
import { createKubeClient, loadKubeconfig } from "@firebolt-operator/kube/client";
import { createAuthority } from "@firebolt-operator/kube/testing";
import {
  renderWebhookConfigurations,
  type WebhookConfigurations,
} from "../../src/admission/registration/webhook-configurations.ts";
import { createAdmissionServer } from "../../src/admission/server/admission-server.ts";
import { createValidators } from "../../src/admission/validators/create-validators.ts";
import { kubeLookups } from "../../src/admission/validators/lookups.ts";

export interface Ready {
  /** `https://127.0.0.1:port`, and the CA of its certificate. */
  readonly base: string;
  readonly ca: string;
  readonly configurations: WebhookConfigurations;
}

export interface Measured {
  /** Milliseconds from the arrival of a request to its response. */
  readonly latencies: readonly number[];
  /** Of these, the time that look-ups on the API server took. */
  readonly lookups: readonly number[];
  readonly cpuMs: number;
  readonly rssBytes: number;
}

const client = createKubeClient({
  config: await loadKubeconfig({ path: process.argv[2] ?? "", env: {}, homeDir: "/nonexistent" }),
});
const authority = createAuthority("bench");
const holder = new PairHolder();
holder.set(inspectPair(authority.issue({ commonName: "hooks", usages: ["server"], hosts: ["127.0.0.1"] })));

let latencies: number[] = [];
let lookupTimes: number[] = [];
const lookups = kubeLookups(client);
const timed: typeof lookups = {
  ...lookups,
  async engineClass(key, signal) {
    const startedMs = performance.now();
    try {
      return await lookups.engineClass(key, signal);
    } finally {
      lookupTimes.push(performance.now() - startedMs);
    }
  },
};
let cpu = process.cpuUsage();
const server = createAdmissionServer({
  host: "127.0.0.1",
  port: 0,
  certificate: {
    current: holder.current,
    run: (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true })),
    whenLoaded: (signal) => holder.whenLoaded(signal),
    onPair: (listener) => holder.onPair(listener),
  },
  validators: createValidators({
    lookups: timed,
    bounds: { cpu: "32", memory: "256Gi" },
    clock: systemClock,
    logger: silentLogger,
  }),
  clock: systemClock,
  logger: silentLogger,
  metrics: { started: () => undefined, finished: (_path, _status, ms) => void latencies.push(ms) },
});
const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());
process.on("message", (order) => {
  if (order === "reset") {
    latencies = [];
    lookupTimes = [];
    cpu = process.cpuUsage();
    return;
  }
  const { user, system } = process.cpuUsage(cpu);
  const measured: Measured = {
    latencies,
    lookups: lookupTimes,
    cpuMs: (user + system) / 1000,
    rssBytes: process.memoryUsage.rss(),
  };
  process.send?.(measured);
});
const running = server.run(stop.signal);
await Promise.race([running, server.whenReady?.(stop.signal)]);
const base = `https://127.0.0.1:${server.port}`;
const ready: Ready = {
  base,
  ca: authority.certificate,
  configurations: renderWebhookConfigurations({
    mutatingName: "bench",
    validatingName: "bench",
    target: { type: "url", base },
    caBundle: authority.certificate,
  }),
};
process.send?.(ready);
await running;
client.close();
process.exit(0);
