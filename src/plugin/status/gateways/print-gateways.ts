// `status --gateways --print-commands`: the requests to gateway pods as kubectl makes them. The pods have to be known
// for that, so this lists them, and nothing else.
import { LABEL } from "../../../api/labels.ts";
import { pods } from "../../../engine/cluster/kinds.ts";
import { listObjects } from "../../cluster/find-object.ts";
import { globalArgs, type KubectlCommand } from "../../cluster/kubectl.ts";
import type { CommandContext } from "../../commands/command.ts";
import { gatewayTargets, type Target } from "./observe-gateways.ts";

export async function gatewayCommands({
  args: [instance],
  flags,
  connect,
}: CommandContext): Promise<readonly KubectlCommand[]> {
  if (!flags.on("gateways")) return [];
  using cluster = await connect();
  const { items } = await listObjects(cluster, pods, {
    namespace: flags.on("all-namespaces") ? undefined : cluster.namespace,
    labelSelector: `${LABEL.instance}${instance === undefined ? "" : `=${instance}`},${LABEL.component}=gateway`,
  });
  const command = (what: string, target: Target): KubectlCommand => ({
    comment: `${what} of gateway pod ${target.pod}`,
    args: [...globalArgs(flags), "get", "--raw", rawPath(target)],
  });
  return items
    .filter(({ status }) => status?.phase === "Running")
    .flatMap((pod) => {
      const { discovery, load } = gatewayTargets(pod);
      return [
        ...(discovery === undefined ? [] : [command("discovery state", discovery)]),
        command("queries and connections", load),
      ];
    });
}

const rawPath = ({ namespace, pod, port, path }: Target): string =>
  `/api/v1/namespaces/${namespace}/pods/${pod}:${port}/proxy${path}`;
