// etcd of one control plane: one member, on loopback, with mutual TLS, without syncing to disk (its data never outlives
// the control plane).
import { join } from "node:path";
import type { Authority } from "../authority.ts";
import { type Api, openApi, valueAt } from "./api-request.ts";
import { withFreePorts } from "./ports.ts";
import { type ManagedProcess, startProcess } from "./process.ts";
import type { Workspace } from "./workspace.ts";

const READY_DEADLINE_MS = 120_000;

export interface Etcd {
  readonly url: string;
  readonly process: () => ManagedProcess;
  /** Terminates it and starts it again with its data and on its ports. */
  restart(signal?: NodeJS.Signals): Promise<void>;
  /** Discards the history of everything written so far. */
  compact(): Promise<void>;
  close(): void;
}

export function startEtcd(workspace: Workspace, authority: Authority, binary: string): Promise<Etcd> {
  const pair = authority.issue({ commonName: "etcd", usages: ["server", "client"], hosts: ["127.0.0.1", "localhost"] });
  const ca = workspace.write("etcd-ca.crt", authority.certificate);
  const certificate = workspace.write("etcd.crt", pair.certificate);
  const key = workspace.write("etcd.key", pair.key);
  return withFreePorts(2, async ([clientPort, peerPort]) => {
    const url = `https://127.0.0.1:${clientPort}`;
    const peerUrl = `http://127.0.0.1:${peerPort}`;
    const program = {
      name: "etcd",
      binary,
      args: [
        `--data-dir=${join(workspace.folder, `etcd-${clientPort}`)}`,
        `--listen-client-urls=${url}`,
        `--advertise-client-urls=${url}`,
        `--listen-peer-urls=${peerUrl}`,
        `--initial-advertise-peer-urls=${peerUrl}`,
        `--initial-cluster=default=${peerUrl}`,
        "--client-cert-auth",
        `--trusted-ca-file=${ca}`,
        `--cert-file=${certificate}`,
        `--key-file=${key}`,
        // Durability costs seconds, and nothing reads this data after a crash.
        "--unsafe-no-fsync",
        "--log-level=warn",
      ],
    };
    const api = openApi({ url, ca: authority.certificate, certificate: pair.certificate, key: pair.key });
    const start = async () => {
      const started = startProcess(workspace, program);
      await started.waitUntilReady(
        async (signal) => (await api.send({ path: "/health", signal })).status === 200,
        READY_DEADLINE_MS,
      );
      return started;
    };
    let running = await start();
    return {
      url,
      process: () => running,
      async restart(signal) {
        await running.stop(signal);
        running = await start();
      },
      compact: () => compact(api),
      close: () => api.close(),
    };
  });
}

async function compact(api: Api): Promise<void> {
  const status = await api.expect({ method: "POST", path: "/v3/maintenance/status", body: {} });
  const revision = valueAt(status.body, ["header", "revision"]);
  // `physical` waits until the history is really removed, not only marked.
  await api.expect({ method: "POST", path: "/v3/kv/compaction", body: { revision, physical: true } });
}
