// What the webhooks do to the life of real objects: ids, dry runs, objects on their way out, an outage, certificates from files
// that are replaced under load.
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger, systemClock } from "@firebolt-operator/kube";
import { createCertificateFiles } from "@firebolt-operator/kube/certificates";
import { type Api, createAuthority, valueAt } from "@firebolt-operator/kube/testing";
import { describe, expect, inject, test } from "vitest";
import { parse } from "yaml";
import { createNamespace, eventually } from "../harness/control-plane/requests.ts";
import { engine, engineClass, instance } from "../harness/fixtures/manifests.ts";
import { serverPair } from "./support/loopback.ts";
import { openWebhookHarness } from "./support/webhook-harness.ts";

const ROOT = "/apis/compute.firebolt.io/v1alpha1/namespaces";
const PLURALS = {
  FireboltEngine: "fireboltengines",
  FireboltEngineClass: "fireboltengineclasses",
  FireboltInstance: "fireboltinstances",
};

function create<T extends { readonly kind?: string }>(api: Api, namespace: string, body: T, query = "") {
  const plural = Object.entries(PLURALS).find(([kind]) => kind === body.kind)?.[1];
  return api.send({ method: "POST", path: `${ROOT}/${namespace}/${plural}${query}`, body });
}

describe("instances", () => {
  test("an id is made, and apart from it the object is stored as without webhooks", async () => {
    await using harness = await openWebhookHarness("admission-id");
    const bare = await createNamespace("admission-bare");
    const written = instance({
      name: "i",
      // A fragment without containers, which must not gain any.
      gateway: { template: { metadata: { labels: { a: "b" } }, spec: { nodeSelector: { c: "d" } } } },
    });
    const [hooked, plain] = [
      await create(harness.api, harness.namespace, written),
      await create(harness.api, bare, written),
    ];
    expect([hooked.status, plain.status]).toEqual([201, 201]);
    const { id, ...rest } = valueAt(hooked.body, ["spec"]) as { id: string };
    expect(id).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    expect(rest).toEqual(valueAt(plain.body, ["spec"]));
    const own = await create(harness.api, harness.namespace, instance({ name: "own", id: "mine" }));
    expect(valueAt(own.body, ["spec", "id"])).toBe("mine");
    const blank = await create(harness.api, harness.namespace, instance({ name: "blank", id: "" }));
    expect(valueAt(blank.body, ["spec", "id"])).toMatch(/^.{26}$/);
  });

  test("required fields stay required", async () => {
    await using harness = await openWebhookHarness("admission-required");
    const head = { apiVersion: "compute.firebolt.io/v1alpha1", kind: "FireboltInstance", metadata: { name: "i" } };
    for (const body of [head, { ...head, spec: {} }, { ...head, spec: { gateway: {} } }])
      expect((await create(harness.api, harness.namespace, body)).status).toBe(422);
  });

  test("a dry run gets the response of a real request, and stores nothing", async () => {
    await using harness = await openWebhookHarness("admission-dry");
    const answer = await create(harness.api, harness.namespace, instance({ name: "i" }), "?dryRun=All");
    expect(answer.status).toBe(201);
    expect(valueAt(answer.body, ["spec", "id"])).toMatch(/^.{26}$/);
    const refused = engineClass({ name: "c", template: { spec: { hostPID: true } } });
    expect((await create(harness.api, harness.namespace, refused, "?dryRun=All")).status).toBe(403);
    for (const plural of Object.values(PLURALS)) {
      const { body } = await harness.api.expect({ path: `${ROOT}/${harness.namespace}/${plural}` });
      expect(valueAt(body, ["items"])).toEqual([]);
    }
  });
});

describe("engines and classes", () => {
  test("a class and the engine that names it may be applied in one go", async () => {
    await using harness = await openWebhookHarness("admission-together");
    for (let index = 0; index < 20; index++) {
      const [name, engineClassRef] = [`e${index}`, `c${index}`];
      expect((await create(harness.api, harness.namespace, engineClass({ name: engineClassRef }))).status).toBe(201);
      expect((await create(harness.api, harness.namespace, engine({ name, engineClassRef }))).status).toBe(201);
    }
  });

  test("a name that the API server makes up is fine, and its engine is validated all the same", async () => {
    await using harness = await openWebhookHarness("admission-generated");
    const { metadata: _metadata, ...rest } = engine({ name: "x" });
    const metadata = { generateName: "made-up-" };
    expect((await create(harness.api, harness.namespace, { ...rest, metadata })).status).toBe(201);
    const spec = { ...rest.spec, template: { spec: { hostPID: true } } };
    expect((await create(harness.api, harness.namespace, { ...rest, metadata, spec })).status).toBe(403);
    expect((await create(harness.api, harness.namespace, { ...rest, metadata: { generateName: "9-" } })).status).toBe(
      403,
    );
  });

  test("a class in another namespace is as good as none", async () => {
    await using harness = await openWebhookHarness("admission-elsewhere");
    const other = await createNamespace("admission-other");
    expect((await create(harness.api, other, engineClass({ name: "c" }))).status).toBe(201);
    expect((await create(harness.api, harness.namespace, engine({ name: "e", engineClassRef: "c" }))).status).toBe(403);
  });

  test("metadata can be changed whatever is wrong with the spec, which is validated when it changes", async () => {
    const broken = { template: { spec: { hostNetwork: true } } };
    const held = <T extends { metadata?: object }>(object: T) => ({
      ...object,
      metadata: { ...object.metadata, finalizers: ["example.com/hold"] },
    });
    await using harness = await openWebhookHarness("admission-leaving", {
      async prepare(api, namespace) {
        await create(api, namespace, held(engine({ name: "x", engineClassRef: "vanished", ...broken })));
        await create(api, namespace, held(engineClass({ name: "x", ...broken })));
        await create(api, namespace, held(instance({ name: "x", gateway: broken })));
      },
    });
    const edits = {
      fireboltengines: { spec: { replicas: 2 } },
      fireboltengineclasses: { spec: { template: { spec: { priorityClassName: "low" } } } },
      fireboltinstances: { spec: { gateway: { replicas: 2 } } },
    };
    const label = { metadata: { labels: { team: "data" } } };
    const release = { metadata: { finalizers: null } };
    const contentType = "application/merge-patch+json";
    for (const [plural, edit] of Object.entries(edits)) {
      const path = `${ROOT}/${harness.namespace}/${plural}/x`;
      const patch = async (body: object) =>
        (await harness.api.send({ method: "PATCH", path, body, contentType })).status;
      expect([await patch(label), await patch(edit)], plural).toEqual([200, 403]);
      expect((await harness.api.send({ method: "DELETE", path })).status).toBe(200);
      expect(await patch(release)).toBe(200);
      expect((await harness.api.send({ path })).status).toBe(404);
    }
  });

  test("status writes do not call the webhooks", async () => {
    await using harness = await openWebhookHarness("admission-status", {
      async prepare(api, namespace) {
        await create(api, namespace, engineClass({ name: "c", template: { spec: { hostNetwork: true } } }));
      },
    });
    const path = `${ROOT}/${harness.namespace}/fireboltengineclasses/c/status`;
    const body = { status: { boundEngines: 1 } };
    const contentType = "application/merge-patch+json";
    expect((await harness.api.send({ method: "PATCH", path, body, contentType })).status).toBe(200);
  });

  test("fields without effect come back as warnings", async () => {
    await using harness = await openWebhookHarness("admission-warnings");
    const warnings = await warningsOf(harness.namespace, engine({ name: "e", template: { spec: { nodeName: "n" } } }));
    expect(warnings).toContain("spec.template.spec.nodeName is ignored");
  });
});

test("an outage of the webhook blocks the deletion of a class and what else it would have validated, but no change of metadata", async () => {
  await using harness = await openWebhookHarness("admission-outage");
  await create(harness.api, harness.namespace, engineClass({ name: "c" }));
  await harness.stopServer();
  const path = `${ROOT}/${harness.namespace}/fireboltengineclasses/c`;
  const answer = await harness.api.send({ method: "DELETE", path });
  expect(answer).toMatchObject({
    status: 500,
    body: { message: expect.stringContaining('failed calling webhook "vfireboltengineclass.compute.firebolt.io"') },
  });
  expect((await harness.api.send({ path })).body).not.toHaveProperty("metadata.deletionTimestamp");
  expect((await create(harness.api, harness.namespace, engine({ name: "e" }))).status).toBe(500);
  const annotate = { metadata: { annotations: { "example.com/team": "data" } } };
  const contentType = "application/merge-patch+json";
  expect((await harness.api.send({ method: "PATCH", path, body: annotate, contentType })).status).toBe(200);
  // The mutating webhook is skipped; the validating one behind it is not.
  const refused = await create(harness.api, harness.namespace, instance({ name: "i" }));
  expect(valueAt(refused.body, ["message"])).toContain("vfireboltinstance.compute.firebolt.io");
});

test("a certificate in files is replaced under load, bad ones in between: no request fails", async () => {
  const folder = mkdtempSync(join(tmpdir(), "admission-files-"));
  const authority = createAuthority("files");
  let version = 0;
  /** As the kubelet does it. */
  const replace = (files: Readonly<Record<string, string>>): void => {
    const name = `..v${++version}`;
    mkdirSync(join(folder, name));
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, name, file), text);
    symlinkSync(name, join(folder, "..data_tmp"));
    renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
  };
  const good = () => {
    const { certificate, key } = serverPair(authority);
    return { "tls.crt": certificate, "tls.key": key };
  };
  replace(good());
  for (const file of ["tls.crt", "tls.key"]) symlinkSync(join("..data", file), join(folder, file));
  const counts = { loaded: 0, failed: 0 };
  const certificate = createCertificateFiles({
    folder,
    certificateName: "tls.crt",
    keyName: "tls.key",
    clock: systemClock,
    logger: silentLogger,
    observer: { loaded: () => void counts.loaded++, failed: () => void counts.failed++ },
  });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const harness = stack.use(await openWebhookHarness("admission-files", { certificate, ca: authority.certificate }));
  const failures: unknown[] = [];
  let asked = 0;
  const stop = new AbortController();
  const flowing = Promise.all(
    Array.from({ length: 8 }, async () => {
      while (!stop.signal.aborted) {
        const refused = engine({ name: "e", template: { spec: { hostIPC: true } } });
        const answer = await create(harness.api, harness.namespace, refused, "?dryRun=All");
        asked += 1;
        if (answer.status !== 403) failures.push(answer);
      }
    }),
  );
  for (let round = 1; round <= 5; round++) {
    replace({ "tls.crt": "nonsense", "tls.key": "nonsense" });
    await eventually(() => counts.failed >= round);
    replace(good());
    await eventually(() => counts.loaded >= round + 1);
    const until = asked + 30;
    await eventually(() => asked >= until);
  }
  stop.abort();
  await flowing;
  expect(failures).toEqual([]);
  console.info(`files: ${asked} requests, ${failures.length} failed, ${counts.loaded} certificates`);
});

/** The warnings of a dry run, from the headers of the response. */
function warningsOf(namespace: string, body: object): Promise<string> {
  const config: unknown = parse(readFileSync(inject("adminKubeconfig"), "utf8"));
  const decoded = (path: readonly (string | number)[]) => Buffer.from(String(valueAt(config, path)), "base64");
  const server = String(valueAt(config, ["clusters", 0, "cluster", "server"]));
  return new Promise((resolve, reject) => {
    const outgoing = request(`${server}${ROOT}/${namespace}/fireboltengines?dryRun=All`, {
      method: "POST",
      ca: decoded(["clusters", 0, "cluster", "certificate-authority-data"]),
      cert: decoded(["users", 0, "user", "client-certificate-data"]),
      key: decoded(["users", 0, "user", "client-key-data"]),
      headers: { "content-type": "application/json" },
    });
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => {
      incoming.resume();
      resolve(String(incoming.headers["warning"] ?? ""));
    });
    outgoing.end(JSON.stringify(body));
  });
}
