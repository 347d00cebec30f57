// The secure metrics server against a real API server: who may read the page, and what the server itself needs to find that out.
import { isFields, type Logger, systemClock } from "@firebolt-operator/kube";
import { createSelfSignedCertificate } from "@firebolt-operator/kube/certificates";
import { createKubeClient, type KubeClient, type RequestInfo } from "@firebolt-operator/kube/client";
import { createMetricsServer } from "@firebolt-operator/kube/metrics";
import { createAccessReview } from "@firebolt-operator/kube/serving";
import { Gauge, Registry } from "prom-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createNamespace, eventually } from "../harness/control-plane/requests.ts";
import { clusterConfig, ServiceAccount, testClient } from "../harness/control-plane/test-client.ts";
import { scrape } from "./support/scrape.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
let admin: KubeClient;
let namespace: string;

beforeAll(async () => {
  admin = await testClient();
  namespace = await createNamespace("metrics");
  for (const name of ["operator", "prometheus", "nobody"])
    await admin.create(ServiceAccount, { metadata: { namespace, name } });
  // What the chart grants to the operator, and to its scrapers.
  const reviews = ["authentication.k8s.io/tokenreviews", "authorization.k8s.io/subjectaccessreviews"];
  await grant(
    "operator",
    reviews.map((review) => {
      const [group = "", resource = ""] = review.split("/");
      return { apiGroups: [group], resources: [resource], verbs: ["create"] };
    }),
  );
  await grant("prometheus", [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }]);
  await untilMayReview("operator");
  await untilMayScrape("prometheus");
});
afterAll(async () => {
  for (const kind of ["clusterroles", "clusterrolebindings"])
    for (const name of ["operator", "prometheus"])
      await admin.request({ method: "DELETE", path: `${RBAC}/${kind}/${namespace}-${name}` });
  admin.close();
});

async function grant(account: string, rules: readonly object[]): Promise<void> {
  const name = `${namespace}-${account}`;
  const head = (kind: string) => ({ apiVersion: "rbac.authorization.k8s.io/v1", kind, metadata: { name } });
  await admin.request({ method: "POST", path: `${RBAC}/clusterroles`, body: { ...head("ClusterRole"), rules } });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
  const subjects = [{ kind: "ServiceAccount", namespace, name: account }];
  const body = { ...head("ClusterRoleBinding"), roleRef, subjects };
  await admin.request({ method: "POST", path: `${RBAC}/clusterrolebindings`, body });
}

async function tokenOf(account: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
  const answer = await admin.request({ method: "POST", path, body: { spec: { expirationSeconds: 600 } } });
  const status = isFields(answer) ? answer["status"] : undefined;
  if (!isFields(status) || typeof status["token"] !== "string") throw new Error("no token in the response");
  return status["token"];
}

async function clientOf(account: string, onRequest: (info: RequestInfo) => void = () => undefined) {
  const { clientCertificate: _, ...config } = await clusterConfig();
  const authentication = { type: "token", token: await tokenOf(account) } as const;
  return createKubeClient({ config: { ...config, authentication }, onRequest });
}

/** The API server's authorizer observes a new role a moment later. */
async function untilMayReview(account: string): Promise<void> {
  const client = await clientOf(account);
  const review = (group: string, kind: string, spec: object) => {
    const path = `/apis/${group}/v1/${kind.toLowerCase()}s`;
    return client.request({ method: "POST", path, body: { apiVersion: `${group}/v1`, kind, spec } });
  };
  const nonResourceAttributes = { path: "/metrics", verb: "get" };
  try {
    await eventually(async () => {
      await review("authentication.k8s.io", "TokenReview", { token: "nonsense" });
      await review("authorization.k8s.io", "SubjectAccessReview", { user: "nobody", nonResourceAttributes });
    });
  } finally {
    client.close();
  }
}

/** Of the scraper's role, too. A server caches a denial for half a minute. */
async function untilMayScrape(account: string): Promise<void> {
  const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
  const nonResourceAttributes = { path: "/metrics", verb: "get" };
  const spec = { user: `system:serviceaccount:${namespace}:${account}`, nonResourceAttributes };
  await eventually(async () =>
    expect(await admin.request({ method: "POST", path, body: { spec } })).toMatchObject({ status: { allowed: true } }),
  );
}

interface Running extends AsyncDisposable {
  readonly url: string;
  readonly asked: readonly RequestInfo[];
  readonly log: readonly string[];
}

/** The server as the operator runs it, with the permissions of this service account. */
async function startAs(account: string): Promise<Running> {
  const asked: RequestInfo[] = [];
  const client = await clientOf(account, (info) => asked.push(info));
  const log: string[] = [];
  const logger: Logger = {
    debug: () => undefined,
    info: (message) => log.push(message),
    error: (message, error) => log.push(`${message}: ${error}`),
    with: () => logger,
  };
  const registry = new Registry();
  new Gauge({ registers: [registry], name: "things", help: "Things." }).set(7);
  const server = createMetricsServer({
    registry,
    logger,
    host: "127.0.0.1",
    port: 0,
    secure: {
      certificate: createSelfSignedCertificate({ hosts: ["localhost"], clock: systemClock, logger }),
      access: createAccessReview({ client, clock: systemClock, path: "/metrics", verb: "get" }),
    },
  });
  const stop = new AbortController();
  const running = server.run(stop.signal);
  await Promise.race([server.whenReady?.(stop.signal), running]);
  return {
    url: `https://127.0.0.1:${server.port}/metrics`,
    asked,
    log,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      client.close();
    },
  };
}

test("without a token 401, without the permission 403, with it the page", async () => {
  await using server = await startAs("operator");
  expect(await scrape(server.url)).toMatchObject({ status: 401, text: "unauthorized\n" });
  expect(await scrape(server.url, { token: "nonsense" })).toMatchObject({ status: 401 });
  expect(await scrape(server.url, { token: await tokenOf("nobody") })).toMatchObject({
    status: 403,
    text: "forbidden\n",
  });
  const token = await tokenOf("prometheus");
  expect(await scrape(server.url, { token })).toMatchObject({ status: 200, text: expect.stringContaining("things 7") });
  const open = await scrape(server.url, { token, accept: "application/openmetrics-text;version=1.0.0" });
  expect(open).toMatchObject({ status: 200, text: expect.stringMatching(/things 7\n# EOF\n$/) });
  expect(open.contentType).toContain("application/openmetrics-text");
  expect(server.log.filter((line) => line.includes("reviewed"))).toEqual([]);
});

test("many scrapes cost two reviews", async () => {
  await using server = await startAs("operator");
  const token = await tokenOf("prometheus");
  for (let i = 0; i < 20; i++) expect((await scrape(server.url, { token })).status).toBe(200);
  expect(server.asked.map(({ method, code }) => `${method} ${code}`)).toEqual(["POST 201", "POST 201"]);
});

test("without permission for token reviews the server responds 500 with the cause", async () => {
  await using server = await startAs("nobody");
  expect(await scrape(server.url, { token: await tokenOf("prometheus") })).toMatchObject({
    status: 500,
    text: "token review failed\n",
  });
  expect(server.log.join("\n")).toMatch(/token review failed: .*403 Forbidden.*tokenreviews/s);
});

test("a valid token is rejected once its account is deleted", async () => {
  await admin.create(ServiceAccount, { metadata: { namespace, name: "leaving" } });
  const token = await tokenOf("leaving");
  const statusAtNewServer = async () => {
    await using server = await startAs("operator");
    return (await scrape(server.url, { token })).status;
  };
  expect(await statusAtNewServer()).toBe(403);
  await admin.delete(ServiceAccount, { namespace, name: "leaving" });
  // The API server remembers a good token for ten seconds itself.
  await eventually(async () => expect(await statusAtNewServer()).toBe(401), { timeoutMs: 90_000 });
});
