// Copies every ConfigMap with the label copier.example.com/copy to NAME-copy in the same namespace, owned by the
// original. The copy follows the original; other changes to it are reverted. The cluster: $KUBECONFIG, the pod's own,
// or ~/.kube/config.
import { homedir, hostname } from "node:os";
import { isDeepStrictEqual } from "node:util";
import { systemClock as clock, keyOf, type Logger, viewChild } from "@firebolt-operator/kube";
import { createObjectCache } from "@firebolt-operator/kube/cache";
import { createKubeClient, loadKubeconfig } from "@firebolt-operator/kube/client";
import {
  type Controller,
  cacheRunnable,
  controllerRunnable,
  createManager,
  owns,
  TerminalError,
  watch,
} from "@firebolt-operator/kube/controller";
import { createLeaderElector, DEFAULT_ELECTION_TIMING, leaseStore } from "@firebolt-operator/kube/election";
import { createEventRecorder, eventWriter, referenceTo } from "@firebolt-operator/kube/events";
import { ConfigMap } from "@firebolt-operator/kube/kinds";
import { silentRuntimeMetrics as metrics } from "@firebolt-operator/kube/metrics";

const COPY = "copier.example.com/copy";
const COPY_OF = "copier.example.com/copy-of";

const loggerWith = (fields: object): Logger => ({
  debug: () => undefined,
  info: (message, more) => console.log(JSON.stringify({ message, ...fields, ...more })),
  error: (message, error, more) => console.log(JSON.stringify({ message, error: String(error), ...fields, ...more })),
  with: (more) => loggerWith({ ...fields, ...more }),
});
const logger = loggerWith({});
const config = await loadKubeconfig({ env: process.env, homeDir: homedir() });
const lease = { namespace: process.env["NAMESPACE"] ?? "default", name: "configmap-copier" };
// The election has its own connections: no load on the other client can delay a renewal.
const store = leaseStore(createKubeClient({ config }), lease);
const elector = createLeaderElector({ store, timing: DEFAULT_ELECTION_TIMING, clock, logger, metrics });
const client = createKubeClient({ config, clock, logger, guardWrite: () => elector.assertLeading() });
const reporter = { reportingController: "copier.example.com/controller", reportingInstance: hostname() };
const recorder = createEventRecorder({ writer: eventWriter(client), clock, logger, ...reporter });
const originals = createObjectCache({ client, type: ConfigMap, logger, clock, labelSelector: COPY });
const copies = createObjectCache({ client, type: ConfigMap, logger, clock, labelSelector: COPY_OF });

const controller: Controller = {
  name: "configmap-copier",
  watches: [watch(originals, ({ object }) => [keyOf(object)]), owns(copies, ConfigMap)],
  async reconcile(key, signal) {
    const original = originals.get(key);
    const uid = original?.metadata?.uid;
    if (original === undefined || uid === undefined) return "onChange"; // Kubernetes deletes the copy with its owner.
    const name = `${key.name}-copy`;
    const copy = viewChild(copies.get({ ...key, name }), uid);
    if (copy.type === "foreign") throw new TerminalError(`${name} belongs to another object`);
    if (copy.type === "live" && isDeepStrictEqual(copy.object.data, original.data)) return "onChange";
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: key.name, uid, controller: true };
    const metadata = { ...key, name, labels: { [COPY_OF]: key.name }, ownerReferences: [owner] };
    const wanted = { metadata, data: { ...original.data } };
    await client.apply(ConfigMap, wanted, { fieldManager: "configmap-copier", force: true, signal });
    const regarding = referenceTo({ apiVersion: "v1", kind: "ConfigMap", ...original });
    recorder.record({ regarding, type: "Normal", reason: "Copied", action: "Copy", note: `Copied to ${name}` });
    return "onChange";
  },
};

const manager = createManager({ logger, clock });
for (const [cache, name] of [[originals, "originals"] as const, [copies, "copies"] as const])
  manager.add(cacheRunnable(cache, name));
manager.add(elector);
manager.add(recorder);
manager.add(controllerRunnable(controller, { clock, logger, metrics }));
process.on("SIGTERM", () => manager.stop()).on("SIGINT", () => manager.stop());
await manager.run(new AbortController().signal);
