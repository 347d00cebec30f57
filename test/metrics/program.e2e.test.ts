// The bundled program's metrics as a scraper meets them: over HTTPS, with a token, from the leader and from a standby, and with a
// certificate that is replaced while it runs.
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { createRoot } from "@firebolt-operator/kube/certificates";
import { findFreePorts, valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ControlPlane, startControlPlane } from "../../dev/control-plane/control-plane.ts";
import { eventually, requestAs } from "../harness/control-plane/requests.ts";
import { engine } from "../harness/fixtures/manifests.ts";
import { buildProgram, type OperatorProcess, startOperator } from "../harness/programs/operator-process.ts";
import { parsePage, scrape } from "./support/scrape.ts";

const CRDS = join(import.meta.dirname, "../../config/crd");
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";
const ENGINES = "/apis/compute.firebolt.io/v1alpha1/namespaces/default/fireboltengines";
const READER = "metrics-reader";

let cluster: ControlPlane;
let token: string;
beforeAll(async () => {
  [cluster] = await Promise.all([startControlPlane({ crds: CRDS }), buildProgram()]);
  const post = (path: string, body: object) => requestAs(cluster.adminKubeconfig, { method: "POST", path, body });
  const metadata = { name: READER };
  await post(ACCOUNTS, { apiVersion: "v1", kind: "ServiceAccount", metadata });
  const rules = [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }];
  const apiVersion = "rbac.authorization.k8s.io/v1";
  await post(`${RBAC}/clusterroles`, { apiVersion, kind: "ClusterRole", metadata, rules });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: READER };
  const subjects = [{ kind: "ServiceAccount", namespace: "default", name: READER }];
  await post(`${RBAC}/clusterrolebindings`, { apiVersion, kind: "ClusterRoleBinding", metadata, roleRef, subjects });
  const { body } = await post(`${ACCOUNTS}/${READER}/token`, { spec: { expirationSeconds: 3_600 } });
  token = String(valueAt(body, ["status", "token"]));
}, 300_000);
afterAll(() => cluster?.stop());

async function start(...flags: readonly string[]): Promise<{ operator: OperatorProcess; port: number; url: string }> {
  const [port = 0] = await findFreePorts(1);
  const operator = startOperator([
    `--kubeconfig=${cluster.adminKubeconfig}`,
    "--health-probe-bind-address=0",
    `--metrics-bind-address=127.0.0.1:${port}`,
    "--drain-settle=0s",
    ...flags,
  ]);
  return { operator, port, url: `https://127.0.0.1:${port}/metrics` };
}

const LEASE = ["--leader-elect", "--leader-election-namespace=default"];

test("leader and standby require a token; only the leader has series of objects, and they are deleted with the object", async () => {
  const [first, second] = [await start(...LEASE), await start(...LEASE)];
  await using _first = first.operator;
  await using _second = second.operator;
  await requestAs(cluster.adminKubeconfig, { method: "POST", path: ENGINES, body: engine({ name: "e" }) });
  const pages = async () => {
    const answers = await Promise.all([first, second].map(({ url }) => scrape(url, { token })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    return answers.map(({ text }) => parsePage(text));
  };
  const aboutEngine = async () =>
    (await pages()).map((page) => page.filter(({ name }) => name.startsWith("firebolt_engine_")).length);
  await eventually(async () => {
    const leading = (await pages()).map((page) => page.find(({ name }) => name === "leader_election_master_status"));
    expect(leading.map((series) => series?.value).sort()).toEqual(["0", "1"]);
    expect((await aboutEngine()).filter((count) => count > 0)).toHaveLength(1);
  });
  for (const { url } of [first, second]) {
    expect((await scrape(url)).status).toBe(401);
    expect((await scrape(url, { token: "nonsense" })).status).toBe(401);
  }
  const [page = []] = await pages();
  expect(page.find(({ name }) => name === "firebolt_operator_build_info")?.labels).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    node_version: process.version,
  });
  await requestAs(cluster.adminKubeconfig, { method: "DELETE", path: `${ENGINES}/e` });
  await eventually(async () => expect(await aboutEngine()).toEqual([0, 0]));
});

/** Whose certificate the port shows. */
function shownBy(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
    socket.once("error", reject).once("secureConnect", () => {
      const { CN } = socket.getPeerCertificate().subject;
      resolve(String(CN));
      socket.destroy();
    });
  });
}

test("a pair that is replaced on disk is served within 30 s, and no connection is refused meanwhile", async () => {
  const folder = await mkdtemp(join(tmpdir(), "metrics-pair-"));
  const write = async (commonName: string) => {
    const pair = createRoot({ commonName, fromMs: Date.now() - 60_000, toMs: Date.now() + 3_600_000 });
    // Both at once, as a mounted Secret changes.
    await writeFile(join(folder, "next.key"), pair.key);
    await writeFile(join(folder, "next.crt"), pair.certificate);
    await rename(join(folder, "next.key"), join(folder, "tls.key"));
    await rename(join(folder, "next.crt"), join(folder, "tls.crt"));
  };
  await write("first");
  const { operator, port, url } = await start(`--metrics-cert-path=${folder}`);
  await using _operator = operator;
  await eventually(async () => expect(await shownBy(port)).toBe("first"));
  await write("second");
  const startedMs = performance.now();
  for (let shown = ""; shown !== "second"; shown = await shownBy(port))
    if (performance.now() - startedMs > 30_000) throw new Error("the first pair is still shown");
  console.log(`new pair shown after ${Math.round(performance.now() - startedMs)} ms`);
  await eventually(async () => expect((await scrape(url, { token })).status).toBe(200));
  const page = parsePage((await scrape(url, { token })).text);
  expect(Number(page.find(({ name }) => name === "certwatcher_read_certificate_total")?.value)).toBeGreaterThan(1);
  await rm(folder, { recursive: true });
});
