// A bound token in a file is replaced while requests run, and the old one is then invalidated at the server (the test
// waits until the server really rejects it): no request may fail.
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { KubeClient } from "../../src/client/client.ts";
import { createKubeClient } from "../../src/client/kube-client.ts";
import type { ClusterConfig } from "../../src/config/cluster-config.ts";
import { systemClock } from "../../src/core/clock.ts";
import { isFields } from "../../src/core/fields.ts";
import { ConfigMap } from "../../src/kinds/index.ts";
import { createNamespace, eventually } from "../support/cluster.ts";
import { clusterConfig, Secret, ServiceAccount, testClient } from "../support/test-client.ts";

const ROTATIONS = 2;
const WORKERS = 4;

let admin: KubeClient;
let namespace: string;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "token-rotation-"));
  namespace = await createNamespace("rotation");
  admin = await testClient();
  await admin.create(ServiceAccount, { metadata: { namespace, name: "robot" } });
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["*"] }];
  await admin.request({ method: "POST", path: `${rbac}/roles`, body: { metadata: { name: "robot" }, rules } });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "robot" };
  const subjects = [{ kind: "ServiceAccount", name: "robot", namespace }];
  const binding = { metadata: { name: "robot" }, roleRef, subjects };
  await admin.request({ method: "POST", path: `${rbac}/rolebindings`, body: binding });
  const token = await issueToken("first");
  const robot = createKubeClient({ config: await robotConfig({ type: "token", token }) });
  await eventually(() => robot.list(ConfigMap, { namespace }), { describe: "the role is in force" });
  robot.close();
});
afterAll(async () => {
  admin.close();
  await rm(folder, { recursive: true });
});

/** A token that is valid for as long as the secret of this name exists. */
async function issueToken(name: string): Promise<string> {
  const secret = await admin.create(Secret, { metadata: { namespace, name } });
  const boundObjectRef = { apiVersion: "v1", kind: "Secret", name, uid: secret.metadata?.uid };
  const response = await admin.request({
    method: "POST",
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/robot/token`,
    body: { spec: { expirationSeconds: 600, boundObjectRef } },
  });
  const status = isFields(response) ? response["status"] : undefined;
  if (!isFields(status) || typeof status["token"] !== "string") throw new Error("no token in the response");
  return status["token"];
}

/** Replaces the file atomically, as the kubelet does. */
async function putToken(path: string, token: string): Promise<void> {
  await writeFile(`${path}.new`, token);
  await rename(`${path}.new`, path);
}

async function robotConfig(authentication: ClusterConfig["authentication"]): Promise<ClusterConfig> {
  const { clientCertificate: _, ...config } = await clusterConfig();
  return { ...config, authentication };
}

/** Writes and reads one object repeatedly until stopped. */
async function work(robot: KubeClient, name: string, log: { rounds: number; failures: unknown[]; stopped: boolean }) {
  const key = { namespace, name };
  for (let round = 0; !log.stopped; round += 1) {
    try {
      await robot.apply(ConfigMap, { metadata: key, data: { round: String(round) } }, { fieldManager: "robot" });
      expect((await robot.get(ConfigMap, key)).data).toEqual({ round: String(round) });
    } catch (error) {
      log.failures.push(error);
    }
    log.rounds += 1;
  }
}

test.concurrent.each([
  { name: "a client that polls its token file", clock: systemClock, mustMeetRefusals: false },
  // Its clock does not advance, so it detects each new token only by a 401.
  {
    name: "a client that relies on 401 responses",
    clock: { ...systemClock, monotonicMs: () => 0 },
    mustMeetRefusals: true,
  },
])("$name: no request fails while tokens rotate and old ones stop working", async ({ clock, mustMeetRefusals }) => {
  const prefix = mustMeetRefusals ? "refused" : "watched";
  const path = join(folder, prefix);
  let token = await issueToken(`${prefix}-0`);
  await putToken(path, token);
  let refusals = 0;
  const robot = createKubeClient({
    config: await robotConfig({ type: "tokenFile", path }),
    clock,
    onRequest({ code }) {
      if (code === "401") refusals += 1;
    },
  });
  const log = { rounds: 0, failures: [] as unknown[], stopped: false };
  const moreRounds = async (): Promise<void> => {
    const before = log.rounds;
    await eventually(() => log.rounds > before + 2 * WORKERS, { describe: "requests run" });
  };
  const workers = Array.from({ length: WORKERS }, (_, number) => work(robot, `${prefix}-${number}`, log));
  try {
    for (let next = 1; next <= ROTATIONS; next += 1) {
      await moreRounds();
      const before = refusals;
      const old = createKubeClient({ config: await robotConfig({ type: "token", token }) });
      token = await issueToken(`${prefix}-${next}`);
      await putToken(path, token);
      await admin.delete(Secret, { namespace, name: `${prefix}-${next - 1}` });
      // The server caches a valid token for ten seconds; only then is the old one rejected.
      const probe = (): Promise<unknown> => old.list(ConfigMap, { namespace, limit: 1 });
      await eventually(
        async () => expect(await probe().catch((error: unknown) => error)).toMatchObject({ status: 401 }),
        {
          describe: "the old token stops working",
        },
      );
      if (mustMeetRefusals) await eventually(() => refusals > before, { describe: "the robot meets the refusal" });
      old.close();
    }
    await moreRounds();
  } finally {
    log.stopped = true;
    await Promise.all(workers);
    robot.close();
  }
  expect([...new Set(log.failures.map(String))]).toEqual([]);
});
