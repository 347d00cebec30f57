// One stand-in engine serves every simulated pod, because all pod addresses are local to this network namespace: queries, health, and the
// metrics by which the operator decides that an engine is drained or idle.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startProcess, type Workspace } from "@firebolt-operator/kube/testing";
import { stringify } from "yaml";
import { ENGINE_CONTRACT } from "../../../src/api/engine-contract.ts";

const PROGRAM = join(import.meta.dirname, "../../stand-ins/engine/main.ts");
const READY_URL = `http://127.0.0.1:${ENGINE_CONTRACT.ports.health}${ENGINE_CONTRACT.endpoints.ready}`;
const POD = "simulated-g0-0";
const READY_MS = 60_000;

/** Exits with the workspace. */
export async function startEngine(workspace: Workspace): Promise<void> {
  const data = join(workspace.folder, "engine");
  mkdirSync(data);
  workspace.write(`engine/${ENGINE_CONTRACT.configFile}`, stringify(renderEngineConfig()));
  const engine = startProcess(workspace, {
    name: "engine",
    binary: process.execPath,
    args: [PROGRAM, "server", "--node", "0", "--data-dir", data],
    env: { HOSTNAME: POD, FAKE_IGNORE_PEERS: "1", FAKE_IGNORE_METADATA: "1" },
  });
  await engine.waitUntilReady(async (signal) => (await fetch(READY_URL, { signal })).ok, READY_MS);
}

/** One process stands for all engines, so it has a name of its own. */
function renderEngineConfig(): object {
  return {
    schema_version: "1.0",
    instance: {
      id: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
      type: "multi_engine",
      multi_engine: { metadata_endpoint: "nobody:7000" },
    },
    engine: { id: "simulated", nodes: [{ host: POD }], termination_grace_period: "1s" },
    logging: { format: "json" },
  };
}
