import { expect, test } from "vitest";
import { OPERATOR_DEFAULTS } from "../../api/operator-defaults.ts";
import type { PodTemplateFragment } from "../../api/schema/pod-template.ts";
import { GATEWAY_CONFIG_FILE } from "../../gateway/serialise.ts";
import type { Instance, Rendered } from "../model/children.ts";
import { renderInstanceObjects } from "./instance-objects.ts";

const WAKE_AGENT = { image: "example.com/operator:1.2.3", pullPolicy: "" };

function gatewayOf(template: PodTemplateFragment | undefined, wakeAgent: typeof WAKE_AGENT | undefined) {
  const instance: Instance = {
    metadata: { namespace: "ns", name: "main", uid: "u" },
    spec: {
      id: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
      metadataNG: false,
      metadata: { engineRegistration: false },
      gateway: { metricsPort: 9090, ...(template === undefined ? {} : { template }) },
    },
  };
  const { gateway } = renderInstanceObjects(instance, {
    images: OPERATOR_DEFAULTS.images,
    metadataConfigFormat: "xml",
    ...(wakeAgent === undefined ? {} : { wakeAgent }),
  });
  const one = <K extends Rendered["kind"]>(kind: K) =>
    gateway.find((object): object is Extract<Rendered, { kind: K }> => object.kind === kind);
  return {
    pod: one("Deployment")?.spec?.template.spec,
    rules: one("Role")?.rules,
    envoy: one("ConfigMap")?.data?.[GATEWAY_CONFIG_FILE] ?? "",
  };
}

test("the agent is last, has the only token, and its gateway may read endpoints and patch engines", () => {
  const sidecar = { name: "log-agent", image: "example.com/log:1" };
  const { pod, rules, envoy } = gatewayOf({ spec: { containers: [sidecar] } }, WAKE_AGENT);
  expect(pod?.containers.map(({ name }) => name)).toEqual(["envoy", "log-agent", "wake-agent"]);
  expect(pod?.containers.at(-1)).toMatchObject({ image: WAKE_AGENT.image, imagePullPolicy: "IfNotPresent" });
  expect(pod?.automountServiceAccountToken).toBe(false);
  const mounting = pod?.containers.filter(({ volumeMounts = [] }) =>
    volumeMounts.some(({ name }) => name === "wake-agent-token"),
  );
  expect(mounting?.map(({ name }) => name)).toEqual(["wake-agent"]);
  expect(pod?.volumes?.map(({ name }) => name)).toContain("wake-agent-token");
  expect(rules).toContainEqual(
    expect.objectContaining({ resources: ["fireboltengines"], verbs: expect.arrayContaining(["patch", "watch"]) }),
  );
  expect(rules).toContainEqual(expect.objectContaining({ resources: ["endpointslices"] }));
  expect(envoy).toContain("wake_agent");
});

test("without an agent nothing of it is rendered", () => {
  const { pod, rules, envoy } = gatewayOf(undefined, undefined);
  expect(pod?.containers.map(({ name }) => name)).toEqual(["envoy"]);
  expect(rules).toEqual([
    { apiGroups: ["compute.firebolt.io"], resources: ["fireboltengines"], verbs: ["get", "list", "patch"] },
  ]);
  expect(envoy).not.toContain("wake");
});

test("under the user's own account there is no agent: the operator does not grant permissions to it", () => {
  const { pod, rules, envoy } = gatewayOf({ spec: { serviceAccountName: "mine" } }, WAKE_AGENT);
  expect(pod?.containers.map(({ name }) => name)).toEqual(["envoy"]);
  expect(rules).toBeUndefined();
  expect(envoy).not.toContain("wake");
});

test.each([
  { limits: { memory: "4Gi" }, want: true },
  { limits: { cpu: "1" }, want: false },
])("the agent gets Envoy's memory limit only where there is one: $limits", ({ limits, want }) => {
  const { pod } = gatewayOf({ spec: { containers: [{ name: "envoy", resources: { limits } }] } }, WAKE_AGENT);
  const names = pod?.containers.at(-1)?.env?.map(({ name }) => name) ?? [];
  expect(names.includes("ENVOY_MEMORY_LIMIT_BYTES")).toBe(want);
});
