import { describe, expect, test } from "vitest";
import { containers } from "./container.ts";
import { normalPodTemplate, POD_SPEC } from "./server-defaults.ts";
import {
  embedded,
  listOf,
  object,
  pointer,
  quantity,
  resourceList,
  scalar,
  scalarOr,
  scalars,
  texts,
} from "./shape.ts";
import { volumes } from "./volume.ts";

describe("what counts as absent", () => {
  test.each([undefined, null, "", 0, false])("a plain value %s", (value) => {
    expect(scalar(value)).toBeUndefined();
    expect(scalarOr("filled")(value)).toBe("filled");
  });

  test.each(["", 0, false])("a pointer to %s is there", (value) => {
    expect(pointer(value)).toBe(value);
    expect(pointer(null)).toBeUndefined();
  });

  test("no list is an empty list, no map is an empty map, but an empty string in a map is a value", () => {
    expect(scalars([])).toBeUndefined();
    expect(listOf(object({}))([])).toBeUndefined();
    expect(listOf(object({}))([{}])).toEqual([{}]);
    expect(texts({})).toBeUndefined();
    expect(texts({ a: "" })).toEqual({ a: "" });
  });

  test("an empty struct behind a pointer stays, an empty struct by value is absent", () => {
    expect(object({ a: scalar })({ a: "" })).toEqual({});
    expect(object({ a: scalar })(undefined)).toBeUndefined();
    expect(embedded({ a: scalar })({ a: "" })).toBeUndefined();
    expect(embedded({ a: scalarOr(1) })(undefined)).toEqual({ a: 1 });
  });

  test("an unknown field is kept as it is", () => {
    expect(object({ a: scalar })({ future: { deep: 0 }, gone: null })).toEqual({ future: { deep: 0 } });
  });
});

test("quantities have one canonical form, and resource lists are rounded up to thousandths", () => {
  expect(quantity("1024Mi")).toBe("1Gi");
  expect(quantity("lots")).toBe("lots");
  expect(resourceList({ cpu: "1n", memory: 1024 })).toEqual({ cpu: "1m", memory: "1Ki" });
});

test("the input is not changed", () => {
  const input = [Object.freeze({ name: "a", image: "i", env: Object.freeze([]) })];
  expect(containers(Object.freeze(input))).toEqual([
    {
      name: "a",
      image: "i",
      imagePullPolicy: "Always",
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
    },
  ]);
  expect(input).toEqual([{ name: "a", image: "i", env: [] }]);
});

test("the defaults of a probe, a hook, a port and a variable", () => {
  const [normal] = [
    containers([
      {
        name: "a",
        image: "i:v1",
        ports: [{ containerPort: 1 }],
        readinessProbe: { httpGet: { port: 1 } },
        livenessProbe: { grpc: { port: 1 } },
        lifecycle: { preStop: { httpGet: { port: 2 } } },
        env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "x" } } }],
      },
    ]),
  ].flat();
  expect(normal).toMatchObject({
    imagePullPolicy: "IfNotPresent",
    ports: [{ containerPort: 1, protocol: "TCP" }],
    readinessProbe: {
      httpGet: { port: 1, path: "/", scheme: "HTTP" },
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    },
    livenessProbe: { grpc: { port: 1, service: "" } },
    lifecycle: { preStop: { httpGet: { port: 2, path: "/", scheme: "HTTP" } } },
    env: [{ name: "A", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "x" } } }],
  });
});

test.each([
  [{ hostPath: { path: "/p" } }, { hostPath: { path: "/p", type: "" } }],
  [{ configMap: { name: "c" } }, { configMap: { name: "c", defaultMode: 420 } }],
  [{ secret: { secretName: "s" } }, { secret: { secretName: "s", defaultMode: 420 } }],
  [{ downwardAPI: {} }, { downwardAPI: { defaultMode: 420 } }],
  [{ secret: { secretName: "s", defaultMode: 0 } }, { secret: { secretName: "s", defaultMode: 0 } }],
  [
    { projected: { sources: [{ serviceAccountToken: { path: "t" } }] } },
    { projected: { defaultMode: 420, sources: [{ serviceAccountToken: { path: "t", expirationSeconds: 3600 } }] } },
  ],
  [
    { ephemeral: { volumeClaimTemplate: {} } },
    { ephemeral: { volumeClaimTemplate: { spec: { volumeMode: "Filesystem" } } } },
  ],
  [{}, { emptyDir: {} }],
])("the volume %j", (source, want) => {
  expect(volumes([{ name: "v", ...source }])).toEqual([{ name: "v", ...want }]);
});

test("a pod without anything gets the server's policies", () => {
  expect(POD_SPEC.dnsPolicy(undefined)).toBe("ClusterFirst");
  expect(normalPodTemplate(undefined)).toEqual({
    metadata: {},
    spec: {
      dnsPolicy: "ClusterFirst",
      restartPolicy: "Always",
      schedulerName: "default-scheduler",
      terminationGracePeriodSeconds: 30,
    },
  });
});
