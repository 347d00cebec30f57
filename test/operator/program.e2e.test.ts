// The bundled program against a real control plane, from flags to exit codes.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findFreePorts } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resolveAssets } from "../../dev/assets/resolver.ts";
import { type ControlPlane, startControlPlane } from "../../dev/control-plane/control-plane.ts";
import { eventually, requestAs } from "../harness/control-plane/requests.ts";
import { buildProgram, PROGRAM, startOperator } from "../harness/programs/operator-process.ts";

const CRDS = join(import.meta.dirname, "../../config/crd");
const LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/c662f7f5.firebolt.io";

let cluster: ControlPlane;
beforeAll(async () => {
  [cluster] = await Promise.all([startControlPlane({ crds: CRDS }), buildProgram()]);
}, 300_000);
afterAll(() => cluster?.stop());

async function probe(port: number, path: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(60_000) });
  return { status: answer.status, text: await answer.text() };
}

describe("manager", () => {
  test("starts out of cluster, becomes ready, leads, serves metrics and stops cleanly", async () => {
    const [probes = 0, metrics = 0] = await findFreePorts(2);
    const startedMs = performance.now();
    await using operator = startOperator([
      "manager",
      `--kubeconfig=${cluster.adminKubeconfig}`,
      "--leader-elect",
      "--leader-election-namespace=default",
      `--health-probe-bind-address=127.0.0.1:${probes}`,
      `--metrics-bind-address=127.0.0.1:${metrics}`,
      "--metrics-secure=false",
    ]);
    await eventually(async () => expect(await probe(probes, "/readyz")).toEqual({ status: 200, text: "ok" }));
    console.log(`start to ready: ${Math.round(performance.now() - startedMs)} ms`);
    await eventually(async () => {
      const { body } = await requestAs(cluster.adminKubeconfig, { path: LEASE });
      expect(body).toMatchObject({
        spec: { holderIdentity: expect.stringMatching(/.+_.+/), leaseDurationSeconds: 15 },
      });
    });
    await eventually(async () => {
      const { text } = await probe(metrics, "/metrics");
      expect(text).toContain('leader_election_master_status{name="c662f7f5.firebolt.io"} 1');
      expect(text).toMatch(/rest_client_requests_total\{code="200",method="GET",host="127\.0\.0\.1:\d+"\} \d+/);
      expect(text).toContain("nodejs_eventloop_lag_seconds");
    });
    expect((await probe(probes, "/readyz?verbose=1")).text).toContain(
      "[+]cache-engine-fireboltengines.compute.firebolt.io ok",
    );
    expect(operator.log()).toContainEqual(expect.objectContaining({ msg: "starting", version: expect.any(String) }));

    operator.signal("SIGTERM");
    expect(await operator.exit).toBe(0);
    const { body } = await requestAs(cluster.adminKubeconfig, { path: LEASE });
    expect(body).toMatchObject({ spec: { leaseDurationSeconds: 1 } });
    expect(body).not.toHaveProperty("spec.holderIdentity");
  });

  test("manager-by-default: it is the default subcommand", async () => {
    await using operator = startOperator([`--kubeconfig=${cluster.adminKubeconfig}`, "--health-probe-bind-address=0"]);
    await eventually(() => expect(operator.log()).toContainEqual(expect.objectContaining({ msg: "starting" })));
    operator.signal("SIGINT");
    expect(await operator.exit).toBe(0);
  });

  test.each([
    { args: ["--nope"], want: /unknown flag --nope/ },
    { args: ["manager", "--kube-api-qps=many"], want: /--kube-api-qps=many: must be a number/ },
    { args: ["dance"], want: /unknown subcommand "dance"/ },
  ])("a bad command line exits with 2 and prints the cause: $args", async ({ args, want }) => {
    await using operator = startOperator(args);
    expect(await operator.exit).toBe(2);
    expect(operator.stderr()).toMatch(want);
    expect(operator.stderr()).toContain("usage: firebolt-operator");
  });

  test.each([
    {
      args: ["--leader-elect", "--leader-election-renew-deadline=20s"],
      want: /^--leader-election-lease-duration .*--leader-election-renew-deadline .*\n$/,
    },
    { args: ["--engine-max-cpu=lots"], want: /^--engine-max-cpu=lots: not a Kubernetes quantity .*\n$/ },
    { args: ["--watch-label-selector=a in (b"], want: /^--watch-label-selector=a in \(b: .*\n$/ },
  ])("an invalid setting exits with 1 and one line: $args", async ({ args, want }) => {
    await using operator = startOperator(args);
    expect(await operator.exit).toBe(1);
    expect(operator.stderr()).toMatch(want);
  });

  test("an unreachable API server: exit code 1, and the address in the log", async () => {
    const [port = 0] = await findFreePorts(1);
    const kubeconfig = join(cluster.folder, "unreachable.kubeconfig");
    const { readFile, writeFile } = await import("node:fs/promises");
    await writeFile(
      kubeconfig,
      (await readFile(cluster.adminKubeconfig, "utf8")).replace(cluster.url, `https://127.0.0.1:${port}`),
    );
    await using operator = startOperator([`--kubeconfig=${kubeconfig}`]);
    expect(await operator.exit).toBe(1);
    expect(operator.stderr()).toContain(`127.0.0.1:${port}`);
  });

  test("a kubeconfig that does not exist: exit code 1, and the file in the log", async () => {
    await using operator = startOperator(["--kubeconfig=/nowhere/config"]);
    expect(await operator.exit).toBe(1);
    expect(operator.stderr()).toContain("/nowhere/config");
  });

  test("a malformed label selector: exit code 1, and the selector in the log", async () => {
    await using operator = startOperator([`--kubeconfig=${cluster.adminKubeconfig}`, "--watch-label-selector=a in (b"]);
    expect(await operator.exit).toBe(1);
    expect(operator.stderr()).toContain("a in (b");
  });
});

test("--version prints the version alone; --help lists the flags; both exit with 0", async () => {
  await using version = startOperator(["--version"]);
  expect(await version.exit).toBe(0);
  expect(version.stdout()).toMatch(/^\d+\.\d+\.\d+\n$/);
  await using help = startOperator(["manager", "--help"]);
  expect(await help.exit).toBe(0);
  expect(help.stdout()).toContain("--leader-election-id");
});

test("sleep waits and exits with 0; a wrong argument exits with 2", async () => {
  await using slept = startOperator(["sleep", "0.05"]);
  expect(await slept.exit).toBe(0);
  await using refused = startOperator(["sleep", "soon"]);
  expect(await refused.exit).toBe(2);
  expect(refused.stderr()).toContain("sleep takes one argument");
});

test("crds prints the content of config/crd, writes it to a folder, and ignores a closed pipe", async () => {
  const files = ["instances", "engines", "engineclasses"].map((kind) => `compute.firebolt.io_firebolt${kind}.yaml`);
  const wanted = files.map((file) => readFileSync(join(CRDS, file), "utf8").replace(/^#.*\n/, ""));
  await using printed = startOperator(["crds"]);
  expect(await printed.exit).toBe(0);
  expect(printed.stdout()).toBe(wanted.join("---\n"));
  const folder = join(cluster.folder, "printed-crds");
  await using written = startOperator(["crds", `--out=${folder}`]);
  expect(await written.exit).toBe(0);
  expect(written.stdout().trim().split("\n")).toEqual(files.map((file) => join(folder, file)));
  expect(files.map((file) => readFileSync(join(folder, file), "utf8"))).toEqual(wanted);
  const left = spawnSync("sh", ["-c", `"${process.execPath}" "${PROGRAM}" crds | head -n 1`], { encoding: "utf8" });
  expect([left.stdout, left.stderr]).toEqual(["apiVersion: apiextensions.k8s.io/v1\n", ""]);
  await using help = startOperator(["crds", "--help"]);
  expect(await help.exit).toBe(0);
  expect(help.stdout()).toContain("kubectl apply --server-side -f -");
});

test("without the CRDs the manager waits for them, logs which are missing, and continues when they are applied", async () => {
  const [port = 0] = await findFreePorts(1);
  await using bare = await startControlPlane();
  await using operator = startOperator([
    `--kubeconfig=${bare.adminKubeconfig}`,
    `--health-probe-bind-address=127.0.0.1:${port}`,
  ]);
  await eventually(() =>
    expect(operator.log()).toContainEqual(
      expect.objectContaining({
        msg: "waiting for custom resource definitions",
        missing: ["fireboltinstances", "fireboltengines", "fireboltengineclasses"],
      }),
    ),
  );
  const kubectl = (await resolveAssets(["kubectl"])).get("kubectl");
  const apply = `"${process.execPath}" "${PROGRAM}" crds | "${kubectl}" --kubeconfig="${bare.adminKubeconfig}" apply --server-side -f -`;
  const { stdout, stderr } = spawnSync("sh", ["-c", apply], { encoding: "utf8", timeout: 150_000 });
  expect(stdout.match(/serverside-applied/g), stderr).toHaveLength(3);
  await eventually(async () => expect(await probe(port, "/readyz")).toEqual({ status: 200, text: "ok" }), {
    timeoutMs: 150_000,
  });
  operator.signal("SIGTERM");
  expect(await operator.exit).toBe(0);
}, 300_000);

test("render gateway-config prints Envoy's configuration without a cluster, and names a file that it cannot read", async () => {
  await using printed = startOperator(["render", "gateway-config", "-f", "examples/instance-minimal.yaml"]);
  expect(await printed.exit).toBe(0);
  expect(printed.stdout()).toContain("static_resources:");
  expect(printed.stdout()).toContain("analytics");
  await using wrong = startOperator(["render", "gateway-config", "-f", "examples/engine-minimal.yaml"]);
  expect(await wrong.exit).toBe(1);
  expect(wrong.stderr()).toContain("examples/engine-minimal.yaml contains no FireboltInstance");
  await using nothing = startOperator(["render", "gateway-config"]);
  expect(await nothing.exit).toBe(2);
});
