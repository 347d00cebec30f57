// Every manifest in examples/ is applied unchanged, with kubectl, and becomes Ready; then every engine in them serves a
// query. The documented requirements of a file are provided: node labels, and images under the names that the files
// use.
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resolveAssets } from "../../dev/assets/resolver.ts";
import { runProgram } from "../../dev/assets/run-program.ts";
import { requireProgram } from "../../dev/assets/system/programs.ts";
import { connect } from "../../dev/deploy/connection.ts";
import { queryRows } from "../../dev/deploy/query.ts";
import { waitUntilReady } from "../../dev/deploy/ready.ts";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { type ClusterHarness, gatewayOf, openClusterHarness } from "../cluster/support/cluster-harness.ts";
import { recordFigures } from "../cluster/support/figures.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { EXAMPLES, readExampleFiles } from "../harness/fixtures/example-files.ts";

const KUBECTL_MS = 120_000;
const APPLY_MS = 60_000;
const READY_MS = 240_000;
const FILES = readExampleFiles();

let harness: ClusterHarness;
let kubectl: (...args: readonly string[]) => Promise<string>;

const objectsOf = (kind: string) => FILES.flatMap(({ objects }) => objects).filter((object) => object.kind === kind);
const NAMESPACES = objectsOf("Namespace").map(({ metadata }) => metadata.name);

beforeAll(async () => {
  harness = await openClusterHarness();
  const program = (await resolveAssets(["kubectl"])).get("kubectl");
  if (program === undefined) throw new Error("no binary for kubectl");
  kubectl = (...args) =>
    runProgram({ program, args: [...args, `--kubeconfig=${harness.context.kubeconfig}`], timeoutMs: KUBECTL_MS });
  await nameImage("postgres", "docker.io/library/postgres:16-alpine");
  for (const [key, value] of FILES.flatMap(({ needs }) => Object.entries(needs.nodeLabels)))
    await kubectl("label", "node", harness.context.nodeName, `${key}=${value}`, "--overwrite");
});

/** Tags a local image with the name in the manifest, as if the node had pulled it. */
async function nameImage(name: string, wanted: string): Promise<void> {
  const { images, folder } = harness.context;
  const reference = images.find((image) => image.name === name)?.reference ?? "";
  const program = join(dirname(requireProgram("containerd")), "ctr");
  const socket = join(folder, "containerd/containerd.sock");
  const args = ["--address", socket, "--namespace", "k8s.io", "images", "tag", "--force", reference, wanted];
  await runProgram({ program, args, timeoutMs: KUBECTL_MS });
}

/** Retried while the webhook does not respond: applying many files at the same time keeps the operator busy. */
const apply = (file: string): Promise<string> =>
  eventually(() => kubectl("apply", "--server-side", "--filename", join(EXAMPLES, file)), {
    timeoutMs: APPLY_MS,
    describe: `examples/${file}, applied`,
  });

/**
 * The operator deletes everything again, engines before their classes; the namespaces are then deleted without waiting.
 * Namespaces are last: the namespace controller rechecks a namespace with a terminating gateway only minutes later.
 */
afterAll(async () => {
  const remove = async (namespace: string): Promise<void> => {
    for (const kinds of ["fireboltengines", "fireboltinstances,fireboltengineclasses", "deployments,statefulsets"])
      await kubectl("delete", kinds, "--all", "-n", namespace, "--timeout=90s");
    await kubectl("wait", "pods", "--all", "-n", namespace, "--for=delete", "--timeout=110s");
  };
  await Promise.all(NAMESPACES.map(remove));
  await kubectl("delete", "namespace", ...NAMESPACES, "--wait=false", "--ignore-not-found");
  harness[Symbol.dispose]();
});

test("every example becomes Ready, and every engine serves queries", async () => {
  const startedMs = performance.now();
  for (const { file } of FILES) await apply(file);
  const withInstances = [...new Set(objectsOf("FireboltInstance").map(({ metadata }) => metadata.namespace ?? ""))];
  await Promise.all(
    withInstances.map(async (namespace) => {
      using cluster = await connect({ kubeconfig: harness.context.kubeconfig, namespace });
      const named = (kind: string) =>
        objectsOf(kind)
          .filter(({ metadata }) => metadata.namespace === namespace)
          .map(({ metadata }) => metadata.name);
      const [instances, engines] = [named("FireboltInstance"), named("FireboltEngine")];
      await waitUntilReady(cluster, { instances, engines, timeoutMs: READY_MS });
    }),
  );
  for (const { metadata } of objectsOf("FireboltEngineClass"))
    await kubectl(
      "wait",
      "--for=condition=Ready",
      `fireboltengineclass/${metadata.name}`,
      "-n",
      metadata.namespace ?? "",
    );
  const readySeconds = Math.round((performance.now() - startedMs) / 1000);

  for (const { metadata } of objectsOf("FireboltEngine")) {
    const namespace = metadata.namespace ?? "";
    const { client, call } = harness.cluster;
    const { spec } = await client.get(FireboltEngine, { namespace, name: metadata.name }, call);
    const gateway = await gatewayOf(harness.cluster, { namespace, instance: spec?.instanceRef ?? "" });
    expect(await queryRows({ gateway, engine: metadata.name, sql: "SELECT 40 + 2" }), metadata.name).toEqual([[42]]);
  }
  recordFigures(harness.context.figures, "examples", {
    files: FILES.length,
    instances: objectsOf("FireboltInstance").length,
    engines: objectsOf("FireboltEngine").length,
    classes: objectsOf("FireboltEngineClass").length,
    readySeconds,
  });
});
