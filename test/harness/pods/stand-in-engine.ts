// Starts stand-in engines as local processes, each on a loopback address of its own and on the real ports.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ManagedProcess, startProcess, type Workspace } from "@firebolt-operator/kube/testing";
import { stringify } from "yaml";
import { ENGINE_CONTRACT } from "../../../src/api/engine-contract.ts";

const MAIN = join(import.meta.dirname, "../../../dev/stand-ins/engine/main.ts");
const PORT = ENGINE_CONTRACT.ports;
type EnginePort = (typeof PORT)[keyof typeof PORT];
const READY_MS = 90_000;
/** Ends what hangs: longer than any query of a test may go on after SIGTERM. */
const GRACE_MS = 90_000;
const PAGE_MS = 60_000;

export interface StandInEngineOptions {
  readonly engine: string;
  readonly generation?: number;
  readonly index?: number;
  readonly replicas?: number;
  readonly namespace: string;
  readonly address: string;
  /** How long accepted queries may go on after SIGTERM. */
  readonly terminationGracePeriod?: string;
  /** Switches of the stand-in (FAKE_…), on top of those that a lone process needs. */
  readonly env?: Readonly<Record<string, string>>;
  /** Replaces the configuration that the operator would render. */
  readonly config?: object;
  /** Do not wait: for engines that are not meant to become ready. */
  readonly waitUntilReady?: boolean;
}

export interface StandInEngine {
  readonly pod: string;
  readonly address: string;
  readonly process: ManagedProcess;
  /** Turns a switch of the stand-in, for instance `/test/fence?v=1`. */
  control(pathAndQuery: string): Promise<void>;
  /** A page of one of its ports. */
  get(port: EnginePort, path: string): Promise<Response>;
  /** Every marker that ran in this process, once per run, even when it has ended since. */
  markers(): readonly string[];
}

export function renderEngineConfig(options: StandInEngineOptions): object {
  const { engine, generation = 0, replicas = 1, namespace, terminationGracePeriod = "55s" } = options;
  const nodes = Array.from({ length: replicas }, (_, index) => ({
    host: `${engine}-g${generation}-${index}.${engine}-g${generation}-hl.${namespace}.svc.cluster.local`,
  }));
  return {
    schema_version: "1.0",
    instance: {
      id: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
      type: "multi_engine",
      multi_engine: { metadata_endpoint: `inst-metadata.${namespace}.svc.cluster.local:7000` },
    },
    engine: { id: engine, nodes, termination_grace_period: terminationGracePeriod },
    logging: { format: "json" },
  };
}

export async function startStandInEngine(workspace: Workspace, options: StandInEngineOptions): Promise<StandInEngine> {
  const { engine, generation = 0, index = 0, address } = options;
  const pod = `${engine}-g${generation}-${index}`;
  const folder = join(workspace.folder, pod);
  mkdirSync(folder, { recursive: true });
  workspace.write(`${pod}/config.yaml`, stringify(options.config ?? renderEngineConfig(options)));
  const env = {
    HOSTNAME: pod,
    FAKE_BIND_ADDRESS: address,
    FAKE_IGNORE_PEERS: "1",
    FAKE_IGNORE_METADATA: "1",
    ...options.env,
  };
  const program = [process.execPath, MAIN, "server", "--node", String(index), "--data-dir", folder];
  const managed = startProcess(workspace, {
    name: pod,
    binary: "/usr/bin/env",
    graceMs: GRACE_MS,
    args: [...Object.entries(env).map(([key, value]) => `${key}=${value}`), ...program],
  });
  const get = (port: EnginePort, path: string): Promise<Response> =>
    fetch(`http://${address}:${port}${path}`, { signal: AbortSignal.timeout(PAGE_MS) });
  if (options.waitUntilReady ?? true)
    await managed.waitUntilReady(
      async () => (await get(PORT.health, ENGINE_CONTRACT.endpoints.ready)).status === 200,
      READY_MS,
    );
  return {
    pod,
    address,
    process: managed,
    async control(pathAndQuery) {
      const url = `http://${address}:${PORT.health}${pathAndQuery}`;
      const response = await fetch(url, { method: "POST", signal: AbortSignal.timeout(PAGE_MS) });
      if (!response.ok) throw new Error(`${pathAndQuery} of ${pod}: ${response.status} ${await response.text()}`);
    },
    get,
    markers: () => readMarkers(join(workspace.folder, "logs", `${pod}.log`)),
  };
}

function readMarkers(logFile: string): readonly string[] {
  const lines = readFileSync(logFile, "utf8").split("\n");
  return lines.flatMap((line) => /^\{"message":"marker","id":"([^"]+)"\}$/.exec(line)?.[1] ?? []);
}
