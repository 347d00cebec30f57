// The sandboxed process of `npm start`: a real Kubernetes node and control plane, published to the host.
// `cluster.ts FOLDER PAUSE-IMAGE`, the latter as JSON
import { valueAt } from "@firebolt-operator/kube/testing";
import { type LocalCluster, startLocalCluster } from "../../cluster/local-cluster.ts";
import type { ControlPlane } from "../../control-plane/control-plane.ts";
import type { ImageArchive } from "../../images/catalog.ts";
import { publish } from "../../sandbox/port-forwards.ts";
import { sendProgress, serveCalls } from "../../sandbox/serve-calls.ts";
import { createGatewayAddress } from "./gateway-address.ts";

/** The cluster as it comes up: each part can be used as soon as it is there. */
interface Coming {
  readonly apiServer: Promise<Pick<ControlPlane, "url" | "adminKubeconfig">>;
  readonly loadImage: Promise<LocalCluster["loadImage"]>;
  readonly cluster: Promise<LocalCluster>;
}

async function main(folder: string, pause: ImageArchive): Promise<void> {
  const ending = new AbortController();
  await using stack = new AsyncDisposableStack();
  const { signal } = ending;
  let coming: Coming | undefined;
  const started = (): Coming => {
    coming ??= startCluster(folder, pause, signal);
    return coming;
  };
  stack.defer(async () => {
    // A start that has failed has cleaned up after itself, and the host knows why.
    const cluster = await coming?.cluster.catch(() => undefined);
    // The API server would wait for the watches of operator and gateways. It is killed instead: none of its data is kept.
    await cluster?.stopApiServer("SIGKILL");
    await cluster?.stop();
  });
  await serveCalls(
    {
      /** The API server can be used; the node is still starting. */
      async up() {
        const { url, adminKubeconfig } = await started().apiServer;
        const { hostname, port } = new URL(url);
        const target = { host: hostname, port: Number(port) };
        const published = stack.use(await publish({ folder, name: "api", target }));
        return { kubeconfig: adminKubeconfig, socket: published.socket };
      },
      async images(input) {
        const load = await started().loadImage;
        for (const image of readImages(input)) {
          sendProgress(`loading the image ${image.name}`);
          await load(image, signal);
        }
      },
      /** The node can be used. */
      async node() {
        await started().cluster;
      },
      async gateway(input) {
        const { adminKubeconfig } = await started().cluster;
        const address = stack.use(createGatewayAddress(adminKubeconfig, input));
        // Fails here, and not with the first query, when there is no such gateway.
        await address.read();
        const published = stack.use(await publish({ folder, name: "gateway", target: address.read }));
        return { socket: published.socket };
      },
    },
    ending,
  );
}

function startCluster(folder: string, pause: ImageArchive, signal: AbortSignal): Coming {
  const apiServer = Promise.withResolvers<Awaited<Coming["apiServer"]>>();
  const loadImage = Promise.withResolvers<LocalCluster["loadImage"]>();
  const cluster = startLocalCluster({
    images: [pause],
    folder,
    progress: sendProgress,
    signal,
    onApiServer: apiServer.resolve,
    onRuntime: loadImage.resolve,
  });
  // A start that fails fails every call that waits for a part of it.
  cluster.catch((error: unknown) => {
    apiServer.reject(error);
    loadImage.reject(error);
  });
  for (const part of [apiServer, loadImage]) part.promise.catch(() => undefined);
  return { apiServer: apiServer.promise, loadImage: loadImage.promise, cluster };
}

/** Sent by the host from the image catalogue. */
function readImages(input: unknown): readonly ImageArchive[] {
  const images = valueAt(input, ["images"]);
  if (!Array.isArray(images)) throw new Error(`not a list of images: ${JSON.stringify(input)}`);
  return images.map(readImage);
}

function readImage(value: unknown): ImageArchive {
  if (!isArchive(value)) throw new Error(`not an image: ${JSON.stringify(value)}`);
  return value;
}

function isArchive(value: unknown): value is ImageArchive {
  return (["name", "reference", "file"] as const).every((key) => typeof valueAt(value, [key]) === "string");
}

await main(process.argv[2] ?? "", readImage(JSON.parse(process.argv[3] ?? "")));
