// A program that starts a local cluster with nothing but the sandbox image, for tests of how a cluster ends:
// `second-cluster.ts FOLDER IMAGE` prints the cluster's folder once it is up and then waits to be killed.
import { setInterval } from "node:timers";
import { startLocalCluster } from "../../../dev/cluster/local-cluster.ts";
import type { ImageArchive } from "../../../dev/images/catalog.ts";

const [folder = "", file = ""] = process.argv.slice(2);
const reference = "localhost/firebolt/pause:second";
const image: ImageArchive = { name: "pause", reference, alternative: reference, file };
const cluster = await startLocalCluster({ images: [image], folder });
process.stdout.write(`${cluster.folder}\n`);
setInterval(() => undefined, 60_000);
