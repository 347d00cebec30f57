// The simulated cluster of a run: a control plane with the real controllers, and nodes whose pods are ready at once. It starts with the first test
// file that opens it (simulated-cluster.ts) and ends with the run. Files ask for it through a socket, because they run in processes of their own.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ControlPlane, startControlPlane } from "../../../dev/control-plane/control-plane.ts";
import { addNodes } from "../../../dev/control-plane/nodes.ts";
import { auditSettings } from "./audit-log.ts";

const CRDS = join(import.meta.dirname, "../../../config/crd");
const NODES = 2;

/** What a test file is told about it. */
export interface SimulatedClusterAccess {
  readonly url: string;
  readonly adminKubeconfig: string;
  readonly nodes: readonly string[];
  /** See audit-log.ts. */
  readonly auditLog: string;
}

interface Running {
  readonly plane: ControlPlane;
  readonly access: SimulatedClusterAccess;
}

/** Serves `GET /` (the access, once it runs) and `GET /accounts/NAMESPACE/NAME` (a kubeconfig of a service account). */
export interface SimulatedClusterServer extends AsyncDisposable {
  readonly socket: string;
}

export async function serveSimulatedCluster(): Promise<SimulatedClusterServer> {
  const folder = mkdtempSync(join(tmpdir(), "firebolt-simulated-"));
  let running: Promise<Running> | undefined;
  const respond = async (path: string): Promise<unknown> => {
    running ??= start(folder);
    const { plane, access } = await running;
    const [, kind, namespace = "", name = ""] = path.split("/");
    if (kind === "accounts") return { kubeconfig: await plane.serviceAccountKubeconfig(namespace, name) };
    return access;
  };
  const server = createServer((request, response) => {
    respond(request.url ?? "/").then(
      (body) => response.end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const socket = join(folder, "cluster.sock");
  server.listen(socket);
  await once(server, "listening");
  return {
    socket,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      // One that could not be started has told so to whoever wanted it.
      await running?.then(
        ({ plane }) => plane.stop(),
        () => undefined,
      );
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function start(folder: string): Promise<Running> {
  const { auditLog, apiServerArgs } = auditSettings(folder);
  const plane = await startControlPlane({
    components: ["kube-controller-manager", "kube-scheduler", "kwok"],
    crds: CRDS,
    apiServerArgs,
  });
  const { url, adminKubeconfig } = plane;
  return {
    plane,
    access: { url, adminKubeconfig, auditLog, nodes: await addNodes(adminKubeconfig, { count: NODES }) },
  };
}
