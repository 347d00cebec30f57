// Prints the log of one container of a pod and follows it: `main.ts NAMESPACE POD CONTAINER`. The cluster: $KUBECONFIG, the pod's own, or
// ~/.kube/config.
import { homedir } from "node:os";
import { createKubeClient, loadKubeconfig } from "@firebolt-operator/kube/client";

const [namespace = "default", pod = "", container = ""] = process.argv.slice(2);
const client = createKubeClient({ config: await loadKubeconfig({ env: process.env, homeDir: homedir() }) });
const stop = new AbortController();
process.on("SIGINT", () => stop.abort());
// Ends with the log or with the signal. The log of a pod without a node is empty.
const lines = client.podLogs({ namespace, pod, container, follow: true, tailLines: 100 }, { signal: stop.signal });
for await (const line of lines) console.log(line);
client.close();
