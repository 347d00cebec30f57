import { describe, expect, test } from "vitest";
import { type Layers, resolve } from "../../../test/engine/support/rendered-fixtures.ts";
import type { V1Container } from "../../api/generated/kubernetes.ts";
import { OPERATOR_DEFAULTS } from "../../api/operator-defaults.ts";

type Container = Partial<V1Container>;

const containers = (ofClass: Container, ofEngine: Container, defaults?: Layers["defaults"]) => {
  const template = (container: Container) => ({
    template: { spec: { containers: [{ name: "engine", ...container }] } },
  });
  return resolve({ engine: template(ofEngine), engineClass: template(ofClass), ...(defaults && { defaults }) })
    .container;
};

describe("the engine container", () => {
  test("image and pull policy are resolved each on its own", () => {
    expect(containers({}, {})).toMatchObject({
      image: OPERATOR_DEFAULTS.images.engine,
      imagePullPolicy: "IfNotPresent",
    });
    expect(containers({ image: "c:1", imagePullPolicy: "Never" }, { image: "e:dev" })).toMatchObject({
      image: "e:dev",
      imagePullPolicy: "Never",
    });
    expect(containers({ image: "c:1" }, { image: "e:dev" }).imagePullPolicy).toBe("Always");
  });

  test("resources: taken as a whole from the engine or the class", () => {
    const ofClass = { resources: { requests: { cpu: "1" }, limits: { cpu: "2" } } };
    expect(containers(ofClass, {}).resources).toEqual(ofClass.resources);
    expect(containers(ofClass, { resources: { requests: {}, limits: {}, claims: [] } }).resources).toEqual(
      ofClass.resources,
    );
    expect(containers(ofClass, { resources: { limits: { memory: "1" } } }).resources).toEqual({
      limits: { memory: "1" },
    });
    expect(containers(ofClass, { resources: { claims: [{ name: "g" }] } }).resources).toEqual({
      claims: [{ name: "g" }],
    });
    expect(containers({}, {}).resources).toEqual({});
  });

  test("env: class, then engine; a name once, and none of the operator's", () => {
    const { env } = containers(
      { env: [{ name: "A", value: "c" }, { name: "B" }, { name: "POD_INDEX" }] },
      { env: [{ name: "C" }, { name: "A", value: "e" }, { name: "FB_AWS_EC2_METADATA_CLIENT_ENABLED" }] },
    );
    expect(env).toEqual([{ name: "B" }, { name: "C" }, { name: "A", value: "e" }]);
  });

  test("mounts: a path once; what the operator mounts or where it mounts is left out", () => {
    const { volumeMounts } = containers(
      {
        volumeMounts: [
          { name: "a", mountPath: "/1" },
          { name: "a", mountPath: "/2" },
          { name: "data", mountPath: "/3" },
        ],
      },
      {
        volumeMounts: [
          { name: "b", mountPath: "/1" },
          { name: "b", mountPath: "/run/firebolt" },
          { name: "engine-config", mountPath: "/4" },
        ],
      },
    );
    expect(volumeMounts).toEqual([
      { name: "a", mountPath: "/2" },
      { name: "b", mountPath: "/1" },
    ]);
  });

  test("envFrom is concatenated; devices and resize policies are keyed", () => {
    const one = { resourceName: "cpu", restartPolicy: "NotRequired" };
    const other = { resourceName: "cpu", restartPolicy: "RestartContainer" };
    const merged = containers(
      { envFrom: [{ prefix: "c" }], volumeDevices: [{ name: "c", devicePath: "/d" }], resizePolicy: [one] },
      { envFrom: [{ prefix: "e" }], volumeDevices: [{ name: "e", devicePath: "/d" }], resizePolicy: [other] },
    );
    expect(merged.envFrom).toEqual([{ prefix: "c" }, { prefix: "e" }]);
    expect(merged.volumeDevices).toEqual([{ name: "e", devicePath: "/d" }]);
    // The API server rejects two policies for one resource.
    expect(merged.resizePolicy).toEqual([other]);
  });

  test("security context: whole; hardened by default", () => {
    const hardened = {
      runAsNonRoot: true,
      runAsUser: 3473,
      runAsGroup: 3473,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
    };
    expect(containers({}, {}).securityContext).toEqual(hardened);
    expect(containers({ securityContext: { runAsUser: 1 } }, {}).securityContext).toEqual({ runAsUser: 1 });
    expect(containers({ securityContext: { runAsUser: 1 } }, { securityContext: {} }).securityContext).toEqual({});
  });

  test("runtime-default-seccomp: --engine-seccomp is part of the default context only", () => {
    const seccomp = (engineSeccomp: "RuntimeDefault" | "Localhost:fb.json", own = {}) =>
      containers({}, own, { engineSeccomp }).securityContext.seccompProfile;
    expect(seccomp("RuntimeDefault")).toEqual({ type: "RuntimeDefault" });
    expect(seccomp("Localhost:fb.json")).toEqual({ type: "Localhost", localhostProfile: "fb.json" });
    expect(seccomp("RuntimeDefault", { securityContext: {} })).toBeUndefined();
  });

  test.each(["workingDir", "terminationMessagePath", "terminationMessagePolicy"] as const)(
    "%s: engine, else class",
    (field) => {
      expect(containers({ [field]: "c" }, { [field]: "e" })[field]).toBe("e");
      expect(containers({ [field]: "c" }, { [field]: "" })[field]).toBe("c");
      expect(containers({}, {})).not.toHaveProperty(field);
    },
  );

  test("lifecycle: whole", () => {
    const hook = (seconds: number) => ({ lifecycle: { preStop: { sleep: { seconds } } } });
    expect(containers(hook(1), hook(2)).lifecycle).toEqual(hook(2).lifecycle);
    expect(containers(hook(1), {}).lifecycle).toEqual(hook(1).lifecycle);
  });
});
