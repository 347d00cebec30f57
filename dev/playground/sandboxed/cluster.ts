// The sandboxed process of `npm start`: a real Kubernetes node and control plane, published to the host.
// `cluster.ts FOLDER IMAGES-FILE`
import { readFileSync } from "node:fs";
import { valueAt } from "@firebolt-operator/kube/testing";
import { type LocalCluster, startLocalCluster } from "../../cluster/local-cluster.ts";
import type { ImageArchive } from "../../images/catalog.ts";
import { publish } from "../../sandbox/port-forwards.ts";
import { sendProgress, serveCalls } from "../../sandbox/serve-calls.ts";
import { createGatewayAddress } from "./gateway-address.ts";

/** What the operator needs; the others are loaded while it starts. */
const FIRST_IMAGES: readonly string[] = ["pause", "operator"];

async function main(folder: string, images: readonly ImageArchive[]): Promise<void> {
  const ending = new AbortController();
  await using stack = new AsyncDisposableStack();
  let cluster: LocalCluster | undefined;
  const isFirst = ({ name }: ImageArchive): boolean => FIRST_IMAGES.includes(name);
  await serveCalls(
    {
      async up() {
        const { signal } = ending;
        const first = images.filter(isFirst);
        cluster = stack.use(await startLocalCluster({ images: first, folder, progress: sendProgress, signal }));
        // The API server would wait for the watches of operator and gateways. It is killed instead: none of its data is kept.
        stack.defer(async () => cluster?.stopApiServer("SIGKILL"));
        const { hostname, port } = new URL(cluster.url);
        const target = { host: hostname, port: Number(port) };
        const published = stack.use(await publish({ folder, name: "api", target }));
        return { kubeconfig: cluster.adminKubeconfig, socket: published.socket };
      },
      async images() {
        if (cluster === undefined) throw new Error("the cluster is not up yet");
        const { signal } = ending;
        for (const image of images.filter((one) => !isFirst(one))) {
          sendProgress(`loading the image ${image.name}`);
          await cluster.loadImage(image, signal);
        }
      },
      async gateway(input) {
        if (cluster === undefined) throw new Error("the cluster is not up yet");
        const address = stack.use(createGatewayAddress(cluster.adminKubeconfig, input));
        // Fails here, and not with the first query, when there is no such gateway.
        await address.read();
        const published = stack.use(await publish({ folder, name: "gateway", target: address.read }));
        return { socket: published.socket };
      },
    },
    ending,
  );
}

/** Written by the host from the image catalogue. */
function readImages(file: string): readonly ImageArchive[] {
  const images: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (!Array.isArray(images) || !images.every(isArchive)) throw new Error(`${file} is not a list of images`);
  return images;
}

function isArchive(value: unknown): value is ImageArchive {
  return (["name", "reference", "file"] as const).every((key) => typeof valueAt(value, [key]) === "string");
}

await main(process.argv[2] ?? "", readImages(process.argv[3] ?? ""));
