// `npm start -- --context` on an existing cluster: a real one, started here without the operator. Everything that was created there is deleted
// again, and the cluster is as before.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApiFromKubeconfig, valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildImages, IMAGE_NAMES, type ImageArchive } from "../../dev/images/catalog.ts";
import { withServer } from "../../dev/playground/sandbox-target.ts";
import { stringOf } from "../../dev/sandbox/calls.ts";
import { openPortForward } from "../../dev/sandbox/port-forwards.ts";
import { startSandboxedProcess } from "../../dev/sandbox/sandboxed-process.ts";
import { openPlaygroundHarness } from "./support/playground-harness.ts";

const UP_MS = 300_000;
const IMAGES: readonly string[] = ["operator", "engine", "metadata", "envoy", "postgres"];

const stack = new AsyncDisposableStack();
let kubeconfig: string;
let images: readonly ImageArchive[];

async function startCluster(): Promise<void> {
  const folder = mkdtempSync("/tmp/pg-own-");
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  images = await buildImages(IMAGE_NAMES);
  const pause = images.find(({ name }) => name === "pause");
  const sandbox = stack.use(
    startSandboxedProcess({
      sandbox: "machine",
      program: join(import.meta.dirname, "../../dev/playground/sandboxed/cluster.ts"),
      args: [folder, JSON.stringify(pause)],
      progress: () => undefined,
    }),
  );
  const up = await sandbox.call("up", {}, UP_MS);
  await sandbox.call("images", { images }, UP_MS);
  await sandbox.call("node", {}, UP_MS);
  const forward = stack.use(await openPortForward({ socket: stringOf(up, "socket") }));
  kubeconfig = join(folder, "kubeconfig");
  writeFileSync(
    kubeconfig,
    withServer(readFileSync(stringOf(up, "kubeconfig"), "utf8"), `https://127.0.0.1:${forward.port}`),
  );
}

async function names(path: string): Promise<readonly string[]> {
  const api = openApiFromKubeconfig(kubeconfig);
  try {
    const items = valueAt((await api.expect({ path })).body, ["items"]);
    return Array.isArray(items) ? items.map((item) => String(valueAt(item, ["metadata", "name"]))).sort() : [];
  } finally {
    api.close();
  }
}

const NAMESPACES = "/api/v1/namespaces";
const PLACES = [
  NAMESPACES,
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
  "/apis/rbac.authorization.k8s.io/v1/clusterroles?labelSelector=app.kubernetes.io/name=firebolt-operator",
];

// Without root there is no real node to stand for a user's cluster; where tests must be complete, that is a failure.
describe.runIf(process.getuid?.() === 0 || process.env["CI"] !== undefined)("on a cluster of one's own", () => {
  beforeAll(startCluster);
  afterAll(() => stack.disposeAsync());

  test("--context --check: 50 queries by port-forward, and the cluster is as it was", async () => {
    await using harness = openPlaygroundHarness();
    const before = await Promise.all(PLACES.map(names));
    const references = images
      .filter(({ name }) => IMAGES.includes(name))
      .map(({ name, reference }) => `--image-${name}=${reference}`);
    const env = { KUBECONFIG: kubeconfig };
    const run = harness.npm(["start", "--", "--check", "--context", "local", "--namespace", "trial", ...references], {
      env,
    });
    expect(await run.exit, run.stderr()).toBe(0);
    expect(run.report()).toMatchObject({ ok: true, mode: "existing", queriesSent: 50, queriesFailed: 0, failures: [] });
    expect(await Promise.all(PLACES.map(names))).toEqual(before);
    await harness.untilNothingIsLeft();
  });

  test("an existing namespace is not touched", async () => {
    await using harness = openPlaygroundHarness();
    const args = ["start", "--", "--check", "--context", "local", "--namespace", "default"];
    const run = harness.npm(args, { env: { KUBECONFIG: kubeconfig } });
    expect(await run.exit).toBe(1);
    expect(run.stderr()).toContain("namespace default exists already in that cluster");
    expect(await names(NAMESPACES)).toContain("default");
    await harness.untilNothingIsLeft();
  });
});
