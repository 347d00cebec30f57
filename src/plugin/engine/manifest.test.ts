import { expect, test } from "vitest";
import { engineManifest, namesBucket } from "./manifest.ts";

const bare = {
  name: "e",
  namespace: undefined,
  instance: "i",
  replicas: 1,
  engineClass: "",
  image: "",
  bucket: "",
  storageType: "s3",
  hostPath: "",
};

test("only what the flags set: no nulls, no empty maps", () => {
  expect(engineManifest(bare)).toEqual({
    apiVersion: "compute.firebolt.io/v1alpha1",
    kind: "FireboltEngine",
    metadata: { name: "e" },
    spec: { instanceRef: "i", replicas: 1 },
  });
});

test("every flag has its field", () => {
  const whole = {
    ...bare,
    namespace: "ns",
    engineClass: "c",
    image: "x:1",
    bucket: "b",
    storageType: "gcs",
    hostPath: "/mnt",
  };
  expect(engineManifest(whole)).toMatchObject({
    metadata: { name: "e", namespace: "ns" },
    spec: {
      engineClassRef: "c",
      template: { spec: { containers: [{ name: "engine", image: "x:1" }] } },
      storage: { hostPath: { path: "/mnt", type: "DirectoryOrCreate" } },
      customEngineConfig: { storage: { managed_table_storage: "gcs", managed_table_bucket_name: "b" } },
    },
  });
});

test("whether a configuration names a bucket", () => {
  expect(namesBucket({ storage: { managed_table_bucket_name: "b" } })).toBe(true);
  for (const config of [undefined, null, {}, { storage: 1 }, { storage: { managed_table_bucket_name: "" } }])
    expect(namesBucket(config)).toBe(false);
});
