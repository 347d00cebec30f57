// The settings of the stand-in engine, from its command line and environment. Read once, at start.
import { hostname } from "node:os";
import { parseArgs } from "node:util";

export interface EngineSettings {
  readonly nodeIndex: number;
  readonly dataDir: string;
  /** The pod's name; Kubernetes makes it the host name. */
  readonly podName: string;
  /** The address of all three listeners. */
  readonly bindAddress: string;
  readonly startDelayMs: number;
  readonly neverReady: boolean;
  /** Ends with an error after this time; undefined = never. */
  readonly exitAfterMs: number | undefined;
  /** After SIGTERM, when all accepted queries are done: how long no request must arrive before the process exits. */
  readonly exitQuietMs: number;
  readonly ignorePeers: boolean;
  readonly ignoreMetadata: boolean;
}

const DEFAULT_EXIT_QUIET_MS = 1_000;

type Environment = Readonly<Record<string, string | undefined>>;

/** Fails on anything the real program would not take, so that a wrongly rendered command line is seen. */
export function readEngineSettings(argv: readonly string[], env: Environment): EngineSettings {
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: { node: { type: "string" }, "data-dir": { type: "string" } },
    allowPositionals: true,
    strict: true,
  });
  if (positionals.length !== 1 || positionals[0] !== "server")
    throw new Error(`expected the sub-command server, got: ${positionals.join(" ")}`);
  const { node, "data-dir": dataDir } = values;
  if (node === undefined || !/^\d+$/.test(node)) throw new Error("--node needs the index of this node");
  if (dataDir === undefined) throw new Error("--data-dir is missing");
  const exitAfter = env["FAKE_EXIT_AFTER_MS"];
  return {
    nodeIndex: Number(node),
    dataDir,
    podName: env["HOSTNAME"] ?? hostname(),
    bindAddress: env["FAKE_BIND_ADDRESS"] ?? "0.0.0.0",
    startDelayMs: Number(env["FAKE_START_DELAY_MS"] ?? 0),
    neverReady: isOn(env["FAKE_NEVER_READY"]),
    exitAfterMs: exitAfter === undefined ? undefined : Number(exitAfter),
    exitQuietMs: Number(env["FAKE_EXIT_QUIET_MS"] ?? DEFAULT_EXIT_QUIET_MS),
    ignorePeers: isOn(env["FAKE_IGNORE_PEERS"]),
    ignoreMetadata: isOn(env["FAKE_IGNORE_METADATA"]),
  };
}

const isOn = (value: string | undefined): boolean => value !== undefined && value !== "" && value !== "0";
