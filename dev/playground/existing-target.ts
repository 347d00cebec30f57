// An existing cluster, by a context of the kubeconfig. Everything that is created there is deleted at the end; what existed before stays. The
// gateway is reached by `kubectl port-forward`.
import { gatewayName } from "../../src/instance/model/names.ts";
import { openForwarding } from "../../src/plugin/forward/forwarding.ts";
import { GATEWAY_SERVICE_PORT } from "../../src/plugin/forward/port-forward.ts";
import { resolveAssets } from "../assets/resolver.ts";
import { installCharts } from "../deploy/charts.ts";
import { connect } from "../deploy/connection.ts";
import type { NamedImage } from "../deploy/image-values.ts";
import { namespaces } from "../deploy/namespace.ts";
import { hasDefinitions, removeCharts, removePlatform } from "../deploy/remove.ts";
import type { Target } from "./target.ts";

export interface ExistingTargetOptions {
  readonly context: string;
  readonly namespace: string;
  readonly images: readonly NamedImage[];
  readonly progress: (line: string) => void;
  readonly signal: AbortSignal;
}

export async function openExistingTarget(options: ExistingTargetOptions): Promise<Target> {
  const { context, namespace, images, progress, signal } = options;
  const address = { context };
  const hasOperator = await inspect(options);
  const kill = new AbortController();
  const stack = new AsyncDisposableStack();
  // Not aborted by the first Ctrl-C, which is the request for this clean-up.
  stack.defer(() => removeAll(options, { withOperator: !hasOperator, signal: kill.signal }));
  return {
    mode: "existing",
    address,
    namespace,
    async installOperator() {
      if (hasOperator)
        progress("the CRDs of the operator are already installed: the existing operator is used and kept");
      else await installCharts({ ...address, images, progress, signal });
    },
    async openGateway(instance) {
      const kubectl = (await resolveAssets(["kubectl"], { progress })).get("kubectl") ?? "kubectl";
      const service = `service/${gatewayName(instance)}`;
      const args = ["port-forward", `--context=${context}`, `--namespace=${namespace}`, service];
      const env = { ...process.env, KUBECTL: kubectl };
      const forwarding = await openForwarding({ args: [...args, `:${GATEWAY_SERVICE_PORT}`], env, signal });
      stack.use(forwarding);
      return `http://127.0.0.1:${forwarding.port}`;
    },
    lost: new Promise(() => undefined),
    kill: () => kill.abort(new Error("interrupted twice")),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Whether the operator is installed; fails when the cluster cannot be reached or the namespace exists. */
async function inspect({ context, namespace, progress, signal }: ExistingTargetOptions): Promise<boolean> {
  using cluster = await connect({ context, signal });
  progress(`using context ${context} (${cluster.config.server})`);
  if ((await cluster.client.find(namespaces, { name: namespace }, cluster.call)) !== undefined)
    throw new Error(
      `namespace ${namespace} exists already in that cluster: choose one that does not, with --namespace`,
    );
  return hasDefinitions(cluster);
}

interface Removal {
  readonly withOperator: boolean;
  readonly signal: AbortSignal;
}

async function removeAll({ context, namespace, progress }: ExistingTargetOptions, removal: Removal): Promise<void> {
  using cluster = await connect({ context, signal: removal.signal });
  progress(`deleting everything in namespace ${namespace}`);
  await removePlatform(cluster, namespace);
  if (!removal.withOperator) return;
  progress("helm: uninstalling the operator and its CRDs");
  await removeCharts(cluster, { context });
}
