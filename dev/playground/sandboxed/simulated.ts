// The sandboxed process of `npm start -- --simulated`: a real control plane with simulated nodes and pods, the operator as a process, and
// real processes behind the simulated gateway and engines. `simulated.ts FOLDER`
import { execFileSync } from "node:child_process";
import { findFreePorts, openWorkspace, type Workspace } from "@firebolt-operator/kube/testing";
import { NODE_ADDRESS } from "../../cluster/addresses.ts";
import { type ControlPlane, startControlPlane } from "../../control-plane/control-plane.ts";
import { addNodes } from "../../control-plane/nodes.ts";
import { stringOf } from "../../sandbox/calls.ts";
import { publish } from "../../sandbox/port-forwards.ts";
import { sendProgress, serveCalls } from "../../sandbox/serve-calls.ts";
import { startEngine } from "./simulated-engine.ts";
import { startGateway } from "./simulated-gateway.ts";
import { startKubelet } from "./simulated-kubelet.ts";
import { startOperator } from "./simulated-operator.ts";
import { addStorage } from "./simulated-storage.ts";

const NODES = 2;

async function main(folder: string): Promise<void> {
  const ending = new AbortController();
  await using stack = new AsyncDisposableStack();
  let up: { readonly plane: ControlPlane; readonly workspace: Workspace; readonly gatewayPort: number } | undefined;
  const running = () => {
    if (up === undefined) throw new Error("the control plane is not up yet");
    return up;
  };
  await serveCalls(
    {
      async up() {
        // The address of the name server, the same as that of CoreDNS in the real cluster.
        execFileSync("ip", ["address", "replace", `${NODE_ADDRESS}/32`, "dev", "lo"]);
        const plane = stack.use(
          await startControlPlane({
            components: ["kube-controller-manager", "kube-scheduler", "kwok"],
            parentFolder: folder,
            progress: sendProgress,
          }),
        );
        sendProgress(`adding ${NODES} simulated nodes`);
        const nodes = await addNodes(plane.adminKubeconfig, { count: NODES });
        await addStorage(plane.adminKubeconfig);
        // Closed first: an API server does not exit while clients watch.
        const workspace = openWorkspace("firebolt-simulated-", { parent: folder });
        stack.defer(() => workspace.close());
        const [gatewayPort = 0] = await findFreePorts(1);
        stack.use(await startKubelet({ workspace, plane, nodes, gatewayPort }));
        up = { plane, workspace, gatewayPort };
        const published = stack.use(await publish({ folder, name: "api", target: targetOf(plane.url) }));
        return { kubeconfig: plane.adminKubeconfig, socket: published.socket };
      },
      async operator(input) {
        const namespace = stringOf(input, "namespace");
        sendProgress("starting a stand-in engine as a process");
        await startEngine(running().workspace);
        await startOperator({ ...running(), namespace, progress: sendProgress });
      },
      async gateway(input) {
        const [namespace, instance] = [stringOf(input, "namespace"), stringOf(input, "instance")];
        const port = running().gatewayPort;
        await startGateway({ ...running(), port, namespace, instance, progress: sendProgress });
        const published = stack.use(await publish({ folder, name: "gateway", target: { host: "127.0.0.1", port } }));
        return { socket: published.socket };
      },
    },
    ending,
  );
}

function targetOf(url: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}

await main(process.argv[2] ?? "");
