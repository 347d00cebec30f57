import { describe, expect, test } from "vitest";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { PodTemplateFragment } from "../../api/schema/pod-template.ts";
import { protectedSecrets, recordedSecrets } from "./protected-secrets.ts";
import { secretsOfVolume, validateEnvironmentReach, validateSecretReach } from "./secret-reach.ts";

const ref = { name: "s" };

test.each([
  ["secret", { secret: { secretName: "s" } }],
  ["projected", { projected: { sources: [{ configMap: {} }, { secret: ref }, { secret: ref }] } }],
  ["csi", { csi: { driver: "d", nodePublishSecretRef: ref } }],
  ["azureFile", { azureFile: { secretName: "s", shareName: "x" } }],
  ["cephfs", { cephfs: { monitors: [], secretRef: ref } }],
  ["cinder", { cinder: { volumeID: "v", secretRef: ref } }],
  ["flexVolume", { flexVolume: { driver: "d", secretRef: ref } }],
  ["iscsi", { iscsi: { iqn: "i", lun: 0, targetPortal: "t", secretRef: ref } }],
  ["rbd", { rbd: { image: "i", monitors: [], secretRef: ref } }],
  ["scaleIO", { scaleIO: { gateway: "g", system: "y", secretRef: ref } }],
  ["storageos", { storageos: { secretRef: ref } }],
] as const)("a volume reaches a Secret through %s", (_, source) => {
  // A copy without the readonly marks of the table.
  expect(secretsOfVolume({ name: "v", ...structuredClone(source) } as Parameters<typeof secretsOfVolume>[0])).toEqual([
    "s",
  ]);
});

test.each([{ emptyDir: {} }, { secret: {} }, { configMap: { name: "s" } }])("%j reaches none", (source) => {
  expect(secretsOfVolume({ name: "v", ...source })).toEqual([]);
});

const template: PodTemplateFragment = {
  spec: {
    volumes: [
      { name: "a", emptyDir: {} },
      { name: "b", secret: { secretName: "ours" } },
    ],
    containers: [
      { name: "c", env: [{ name: "V", valueFrom: { secretKeyRef: { name: "ours", key: "k" } } }] },
      { name: "d", envFrom: [{ secretRef: { name: "theirs" } }] },
    ],
    initContainers: [{ name: "i", envFrom: [{ secretRef: { name: "ours" } }] }],
  },
};

test("volumes and environment are distinguished", () => {
  const isProtected = (name: string) => name === "ours";
  const inEnvironment = ["spec.x.spec.containers[0]", "spec.x.spec.initContainers[0]"];
  const paths = (violations: readonly { readonly path: string }[]) => violations.map(({ path }) => path);
  expect(paths(validateEnvironmentReach(template, "spec.x", isProtected))).toEqual(inEnvironment);
  expect(paths(validateSecretReach(template, "spec.x", isProtected))).toEqual([
    "spec.x.spec.volumes[1]",
    ...inEnvironment,
  ]);
  expect(validateSecretReach(undefined, "spec.x", () => true)).toEqual([]);
});

describe("which Secrets are protected", () => {
  const instance = (spec: object, status: object = {}): FireboltInstance =>
    ({ metadata: { name: "lake" }, spec: { metadata: {}, gateway: {}, ...spec }, status }) as FireboltInstance;
  const full = instance(
    {
      auth: { enabled: true, local: { admin: { password: { name: "admin" } } } },
      tls: { gateway: { clientCASecretRef: { name: "client-ca" } } },
      metadata: { postgres: { credentialsSecretRef: { name: "login" } } },
    },
    {
      auth: { signingKeys: [{ secretName: "key-1" }] },
      engineTLS: { secretName: "engine-cert" },
      gatewayTLS: { secretName: "gateway-cert" },
    },
  );

  test.each(["admin", "key-1", "engine-cert", "gateway-cert", "client-ca", "login"])(
    "%s: recorded by the instance, so for admission and controllers",
    (name) => {
      expect([recordedSecrets(full)(name), protectedSecrets(full)(name)]).toEqual([true, true]);
      expect(protectedSecrets(instance({}))(name)).toBe(false);
    },
  );

  test.each([
    "lake-metadata-postgres-creds",
    "lake-engine-ca-bundle",
    "any-auth-signing",
    "any-auth-signing-2",
    "e-g1-engine-tls",
    "my-gateway-engine-tls",
  ])("protected-by-shape, controllers-guard-secrets: %s: by name, for controllers only", (name) => {
    expect([recordedSecrets(full)(name), protectedSecrets(full)(name)]).toEqual([false, true]);
    expect(protectedSecrets(instance({}))(name)).toBe(true);
  });

  test.each(["app-auth-signingkey", "auth-signing", "engine-tls", "lake-metadata-postgres", "admin2"])(
    "%s is free",
    (name) => {
      expect(protectedSecrets(full)(name)).toBe(false);
    },
  );

  test("a password that authentication does not use is the user's own", () => {
    const off = instance({ auth: { enabled: false, local: { admin: { password: { name: "admin" } } } } });
    expect(protectedSecrets(off)("admin")).toBe(false);
  });
});
