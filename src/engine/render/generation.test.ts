import { describe, expect, test } from "vitest";
import { type Layers, render } from "../../../test/engine/support/rendered-fixtures.ts";
import { PART_NAMES } from "../model/child-kinds.ts";
import { renderRoutingService } from "./routing-service.ts";

const golden = (name: string) => `./golden/${name}.golden.json`;
const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const text = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

const FULL: Layers = {
  engine: {
    replicas: 2,
    engineClassRef: "c",
    metadataEndpointOverride: "metadata.example:7000",
    customEngineConfig: { logging: { level: "debug", format: "text" }, instance: { id: "stolen" } },
    storage: { persistentVolumeClaim: { size: "10Gi", accessModes: ["ReadWriteOnce"], storageClassName: "ssd" } },
    template: {
      metadata: { labels: { team: "a" }, annotations: { note: "b" } },
      spec: {
        nodeSelector: { pool: "b" },
        containers: [
          { name: "engine", image: "registry.example/engine:v2", env: [{ name: "A", value: "e" }] },
          { name: "agent", image: "agent:v1" },
        ],
        volumes: [{ name: "cache", emptyDir: {} }],
      },
    },
  },
  engineClass: {
    customEngineConfig: { storage: { managed_table_storage: "s3" } },
    template: {
      spec: {
        serviceAccountName: "engines",
        nodeSelector: { pool: "a", arch: "arm64" },
        containers: [{ name: "engine", resources: { requests: { cpu: "2" } }, env: [{ name: "A", value: "c" }] }],
      },
    },
  },
};

describe("golden renders", () => {
  test("a bare engine", async () => {
    const rendered = render({});
    for (const part of ["statefulSet", ...PART_NAMES] as const)
      await expect(text(rendered[part])).toMatchFileSnapshot(golden(`bare-${kebab(part)}`));
  });

  test("an engine with a class and everything set", async () => {
    const { statefulSet, configMap } = render(FULL, { generation: 7 });
    await expect(text(statefulSet)).toMatchFileSnapshot(golden("full-stateful-set"));
    await expect(text(configMap)).toMatchFileSnapshot(golden("full-config-map"));
  });

  test("the routing Service", async () => {
    const service = renderRoutingService({ namespace: "ns", name: "e", uid: "u" }, 7);
    await expect(text(service)).toMatchFileSnapshot(golden("routing-service"));
  });

  test("rendering twice gives the same string", () => {
    expect(text(render(FULL))).toBe(text(render(FULL)));
  });
});

const podOf = (layers: Layers) => render(layers).statefulSet.spec?.template;

describe("the StatefulSet", () => {
  test("annotations are there only when they apply", () => {
    const annotations = (layers: Layers) => Object.keys(render(layers).statefulSet.metadata?.annotations ?? {});
    expect(annotations({})).toEqual(["firebolt.io/rendered-hash"]);
    expect(annotations(FULL)).toEqual([
      "firebolt.io/metadata-override",
      "firebolt.io/custom-engine-config-hash",
      "firebolt.io/engine-class-hash",
      "firebolt.io/rendered-hash",
    ]);
  });

  test("the operator's labels win over those of a template", () => {
    const labels = { "firebolt.io/engine": "stolen", "firebolt.io/generation": "9", mine: "x" };
    expect(podOf({ engine: { template: { metadata: { labels } } } })?.metadata?.labels).toEqual({
      "firebolt.io/engine": "e",
      "firebolt.io/generation": "0",
      mine: "x",
    });
  });

  test("startup-probe-every-second, readiness-probe-every-second: neither waits for a period or a delay", () => {
    const { startupProbe, readinessProbe } = podOf({})?.spec?.containers[0] ?? {};
    expect(startupProbe).toMatchObject({ periodSeconds: 1, failureThreshold: 150 });
    expect(readinessProbe).toMatchObject({ periodSeconds: 1, failureThreshold: 18 });
    expect([startupProbe?.initialDelaySeconds, readinessProbe?.initialDelaySeconds]).toEqual([undefined, undefined]);
  });

  test("zero replicas are rendered, with an empty node list", () => {
    const { statefulSet, configMap } = render({ engine: { replicas: 0 } });
    expect(statefulSet.spec?.replicas).toBe(0);
    expect(JSON.parse(configMap.data?.["config.yaml"] ?? "")).toMatchObject({ engine: { nodes: [] } });
  });
});

describe("storage", () => {
  const dataOf = (layers: Layers) => ({
    volume: podOf(layers)?.spec?.volumes?.find(({ name }) => name === "data"),
    claims: render(layers).statefulSet.spec?.volumeClaimTemplates,
  });

  test.each<[Layers["engine"] & object, object]>([
    [{}, { name: "data", emptyDir: {} }],
    [{ storage: { emptyDir: { medium: "", sizeLimit: "1Gi" } } }, { name: "data", emptyDir: { sizeLimit: "1Gi" } }],
    [{ storage: { hostPath: { path: "/d" } } }, { name: "data", hostPath: { path: "/d" } }],
    [
      { storage: { hostPath: { path: "/d", type: "Directory" } } },
      { name: "data", hostPath: { path: "/d", type: "Directory" } },
    ],
  ])("%j is a pod volume", (engine, volume) => {
    expect(dataOf({ engine })).toEqual({ volume, claims: undefined });
  });

  test("a claim is no pod volume; an empty storage class is meaningful", () => {
    const { volume, claims } = dataOf({
      engine: {
        storage: { persistentVolumeClaim: { size: "5Gi", accessModes: ["ReadWriteOnce"], storageClassName: "" } },
      },
    });
    expect(volume).toBeUndefined();
    expect(claims).toEqual([
      {
        metadata: { name: "data", labels: { "firebolt.io/engine": "e", "firebolt.io/generation": "0" } },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "5Gi" } }, storageClassName: "" },
      },
    ]);
  });
});

describe("the configuration", () => {
  const configOf = (layers: Layers) => JSON.parse(render(layers).configMap.data?.["config.yaml"] ?? "");

  test("nodes are in the order of the pods", () => {
    expect(configOf({ engine: { replicas: 3 } }).engine.nodes.map(({ host }: { host: string }) => host)).toEqual(
      [0, 1, 2].map((index) => `e-g0-${index}.e-g0-hl.ns.svc.cluster.local`),
    );
  });

  test("the user may override what the operator does not own, and nothing else", () => {
    const config = configOf(FULL);
    expect(config.logging).toEqual({ format: "text", level: "debug" });
    expect(config.instance.id).toBe("01J0000000000000000000000");
    expect(config.instance.multi_engine.metadata_endpoint).toBe("metadata.example:7000");
    expect(config.storage).toEqual({ managed_table_storage: "s3" });
  });
});
