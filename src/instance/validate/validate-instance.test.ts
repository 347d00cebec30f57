import { describe, expect, test } from "vitest";
import { violationText } from "../../podtemplate/rules/violation.ts";
import type { Instance } from "../model/children.ts";
import { validateInstance, validateTemplates } from "./validate-instance.ts";

const instance = (spec: object, status: object = {}): Instance =>
  ({
    metadata: { namespace: "ns", name: "lakeside" },
    spec: { metadata: {}, gateway: {}, ...spec },
    status,
  }) as Instance;

describe("what admission rejects", () => {
  test.each([
    [{ metadata: { replicas: 2 } }, "spec.metadata.replicas: Invalid value: 2: must be 1"],
    [
      { metadata: { postgres: { host: "h", database: "d", credentialsSecretRef: { name: "" } } } },
      "spec.metadata.postgres.credentialsSecretRef.name: Required value",
    ],
    [{ metadata: { template: { spec: { hostname: "h" } } } }, "spec.metadata.template.spec.hostname: Forbidden"],
    [{ gateway: { template: { spec: { hostPID: true } } } }, "spec.gateway.template.spec.hostPID: Forbidden"],
    [{ id: "a\u0000b" }, "spec.id: Invalid value"],
    ...[8080, 9901, 9902, 9903, 9904].map((metricsPort) => [
      { gateway: { metricsPort } },
      `spec.gateway.metricsPort: Invalid value: ${metricsPort}: the gateway itself listens on 8080, 9901, 9902, 9903, 9904`,
    ]),
  ] as [object, string][])("%j", (spec, text) => {
    const [violation, ...rest] = validateInstance(instance(spec)).map(violationText);
    expect(violation).toContain(text);
    expect(rest).toEqual([]);
  });

  test.each([{}, { metadata: { replicas: 1 } }, { id: "anything <at> all" }, { gateway: { metricsPort: 9906 } }])(
    "%j is fine",
    (spec) => {
      expect(validateInstance(instance(spec))).toEqual([]);
    },
  );
});

describe("Secrets that no template may reach", () => {
  const volume = (source: object) => ({ spec: { volumes: [{ name: "v", ...source }] } });
  const found = (template: object, status?: object) =>
    validateTemplates(instance({ gateway: { template } }, status)).gateway.map(({ path }) => path);
  const VOLUME = "spec.gateway.template.spec.volumes[0]";

  test.each([
    ["secret", { secret: { secretName: "lakeside-metadata-postgres-creds" } }],
    ["projected", { projected: { sources: [{ secret: { name: "lakeside-engine-ca-bundle" } }] } }],
    ["csi", { csi: { driver: "d", nodePublishSecretRef: { name: "x-auth-signing" } } }],
    ["azureFile", { azureFile: { secretName: "x-auth-signing-signing-2", shareName: "s" } }],
    ["cephfs", { cephfs: { monitors: [], secretRef: { name: "e-g1-engine-tls" } } }],
    ["rbd", { rbd: { monitors: [], image: "i", secretRef: { name: "my-gateway-engine-tls" } } }],
  ])("through a %s volume", (_, source) => {
    expect(found(volume(source))).toEqual([VOLUME]);
  });

  test.each(["app-auth-signingkey", "auth-signing", "engine-tls", "lakeside-metadata-postgres", "mine"])(
    "%s is free",
    (secretName) => {
      expect(found(volume({ secret: { secretName } }))).toEqual([]);
    },
  );

  test("through the environment, of init containers too", () => {
    const name = "lakeside-metadata-postgres-creds";
    const env = [{ name: "P", valueFrom: { secretKeyRef: { name, key: "password" } } }];
    const spec = {
      containers: [{ name: "a", env }],
      initContainers: [{ name: "b", envFrom: [{ secretRef: { name } }] }],
    };
    expect(found({ spec })).toEqual([
      "spec.gateway.template.spec.containers[0]",
      "spec.gateway.template.spec.initContainers[0]",
    ]);
  });

  test("what the status names, and the user's own database login", () => {
    const status = { gatewayTLS: { secretName: "tls" } };
    expect(found(volume({ secret: { secretName: "tls" } }), status)).toEqual([VOLUME]);
    const postgres = { host: "h", database: "d", credentialsSecretRef: { name: "login" } };
    const spec = { metadata: { postgres, template: volume({ secret: { secretName: "login" } }) } };
    expect(validateTemplates(instance(spec)).metadata).toHaveLength(1);
  });
});
