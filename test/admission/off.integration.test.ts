// The same mistakes with no webhook in the way: they are stored, and the controllers catch every one of them, with the condition and
// the words that admission would have used.
import { join } from "node:path";
import { type Api, openApiFromKubeconfig, valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ControlPlane, startControlPlane } from "../../dev/control-plane/control-plane.ts";
import { validateTemplate } from "../../src/podtemplate/rules/validate-template.ts";
import { violationsText } from "../../src/podtemplate/rules/violation.ts";
import { createNamespace, eventually } from "../harness/control-plane/requests.ts";
import { engine, engineClass, instance } from "../harness/fixtures/manifests.ts";
import { OPERATOR_OWNED } from "../harness/fixtures/operator-owned-templates.ts";
import { type EngineOperator, startEngineOperator } from "../harness/operator/engine-operator-in-process.ts";
import { startInstanceOperator } from "../harness/operator/instance-operator.ts";

const GROUP = "/apis/compute.firebolt.io/v1alpha1/namespaces";

let plane: ControlPlane;
let api: Api;
let namespace: string;
beforeAll(async () => {
  plane = await startControlPlane({ crds: join(import.meta.dirname, "../../config/crd") });
  api = openApiFromKubeconfig(plane.adminKubeconfig);
  namespace = await createNamespace("off", plane.adminKubeconfig);
});
afterAll(async () => {
  api?.close();
  await plane?.[Symbol.asyncDispose]();
});

const create = (plural: string, body: object) =>
  api.expect({ method: "POST", path: `${GROUP}/${namespace}/${plural}?fieldValidation=Strict`, body });

/** Once it has this reason. */
function condition(path: string, type: string, reason: string) {
  return eventually(
    async () => {
      const { body } = await api.expect({ path: `${GROUP}/${namespace}/${path}` });
      const found = valueAt(body, ["status", "conditions"]);
      const all = Array.isArray(found)
        ? (found as { type: string; reason: string; status: string; message: string }[])
        : [];
      const one = all.find((candidate) => candidate.type === type);
      expect([one?.status, one?.reason, one?.message]).toEqual(["False", reason, expect.any(String)]);
      return one?.message ?? "";
    },
    { describe: `${type}=False/${reason} of ${path}` },
  );
}

describe("engines and classes", () => {
  let operator: EngineOperator;
  beforeAll(async () => {
    await create("fireboltinstances", instance({ name: "lakeside", id: "01J00000000000000000000000" }));
    const status = { metadataEndpoint: "lakeside-metadata:7000" };
    const contentType = "application/merge-patch+json";
    const path = `${GROUP}/${namespace}/fireboltinstances/lakeside/status`;
    await api.expect({ method: "PATCH", path, body: { status }, contentType });
    operator = await startEngineOperator({
      kubeconfig: plane.adminKubeconfig,
      namespaces: [namespace],
      bounds: { cpu: "32", memory: "256Gi" },
    });
  });
  afterAll(() => operator?.[Symbol.asyncDispose]());

  test("TemplateRejected: an engine's own template", async () => {
    const template = { spec: { hostNetwork: true, containers: [{ name: "engine", tty: true }] } };
    await create("fireboltengines", engine({ name: "rejected", template }));
    expect(await condition("fireboltengines/rejected", "Ready", "TemplateRejected")).toBe(
      violationsText(validateTemplate("engine", template, "spec.template")),
    );
  });

  test("TemplateRejected: what the operator made for any instance; volumes with its Secrets are left out", async () => {
    const name = (index: number) => `owned-${index}`;
    for (const [index, { spec }] of OPERATOR_OWNED.entries())
      await create("fireboltengines", engine({ name: name(index), template: { spec } }));
    for (const [index, { what, path, names, leftOut }] of OPERATOR_OWNED.entries()) {
      if (leftOut !== true) {
        const message = await condition(`fireboltengines/${name(index)}`, "Ready", "TemplateRejected");
        expect(message, what).toContain(`spec.template.${path}: Forbidden: `);
        expect(message, what).toContain(names);
        continue;
      }
      const set = `/apis/apps/v1/namespaces/${namespace}/statefulsets/${name(index)}-g0`;
      const made = await eventually(async () => (await api.expect({ path: set })).body, { describe: set });
      expect(JSON.stringify(made), what).not.toContain(names.replaceAll('"', ""));
    }
  });

  test("ResourceBoundsExceeded: of the engine's own, and inherited from its class", async () => {
    const template = { spec: { containers: [{ name: "engine", resources: { limits: { memory: "300Gi" } } }] } };
    await create("fireboltengines", engine({ name: "large", template }));
    expect(await condition("fireboltengines/large", "Ready", "ResourceBoundsExceeded")).toBe(
      'spec.template.spec.containers[engine].resources.limits[memory]: Invalid value: "300Gi": exceeds the maximum 256Gi',
    );
    await create("fireboltengineclasses", engineClass({ name: "large", template }));
    await create("fireboltengines", engine({ name: "heir", engineClassRef: "large" }));
    expect(await condition("fireboltengines/heir", "Ready", "ResourceBoundsExceeded")).toMatch(
      /inherited from FireboltEngineClass "large"/,
    );
  });

  test("FireboltEngineClassUnready: a class that is not there", async () => {
    await create("fireboltengines", engine({ name: "lonely", engineClassRef: "missing" }));
    expect(await condition("fireboltengines/lonely", "Ready", "FireboltEngineClassUnready")).toContain('"missing"');
  });

  test("OperatorOwnedFieldSet: a class's template, and the engines that name it wait", async () => {
    const template = { metadata: { labels: { "firebolt.io/team": "a" } }, spec: { hostPID: true } };
    await create("fireboltengineclasses", engineClass({ name: "broken", template }));
    const words = violationsText(validateTemplate("engine", template, "spec.template"));
    expect(await condition("fireboltengineclasses/broken", "Ready", "OperatorOwnedFieldSet")).toBe(words);
    await create("fireboltengines", engine({ name: "bound", engineClassRef: "broken" }));
    expect(await condition("fireboltengines/bound", "Ready", "FireboltEngineClassUnready")).toContain(words);
  });

  test("DeletionBlocked: a class that an engine names stays until it does not", async () => {
    await create("fireboltengineclasses", engineClass({ name: "held" }));
    await create("fireboltengines", engine({ name: "holder", engineClassRef: "held" }));
    const path = `${GROUP}/${namespace}/fireboltengineclasses/held`;
    await eventually(async () => expect(JSON.stringify((await api.expect({ path })).body)).toContain("deletion-guard"));
    await api.expect({ method: "DELETE", path });
    const message = await condition("fireboltengineclasses/held", "Ready", "DeletionBlocked");
    expect(message).toMatch(/"held" is still referenced by 1 engine of namespace/);
    const contentType = "application/merge-patch+json";
    const body = { spec: { engineClassRef: null } };
    await api.expect({ method: "PATCH", path: `${GROUP}/${namespace}/fireboltengines/holder`, body, contentType });
    await eventually(async () => (await api.send({ path })).status === 404, { timeoutMs: 45_000 });
  });
});

test("TemplateRejected on both components of an instance, and an id although no webhook made one", async () => {
  await using _operator = await startInstanceOperator({ kubeconfig: plane.adminKubeconfig });
  const refused = { template: { spec: { hostIPC: true } } };
  await create("fireboltinstances", instance({ name: "m", metadata: refused }));
  expect(await condition("fireboltinstances/m", "MetadataReady", "TemplateRejected")).toContain(
    "spec.metadata.template.spec.hostIPC",
  );
  await create("fireboltinstances", instance({ name: "g", gateway: refused }));
  expect(await condition("fireboltinstances/g", "GatewayReady", "TemplateRejected")).toContain(
    "spec.gateway.template.spec.hostIPC",
  );
  const { body } = await api.expect({ path: `${GROUP}/${namespace}/fireboltinstances/m` });
  expect(valueAt(body, ["spec", "id"])).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
});
