// Where an engine keeps its data: `spec.storage` of FireboltEngine and FireboltEngineClass.
import { SCHEMA_DEFAULTS } from "../defaults.ts";
import { array, enumOf, object, quantity, required, string } from "../schema/builders.ts";
import type { Infer } from "../schema/schema.ts";

const DEFAULTS = SCHEMA_DEFAULTS.persistentVolumeClaim;

const persistentVolumeClaim = object(
  {
    size: quantity({ description: "Requested capacity. Zero counts as the default.", default: DEFAULTS.size }),
    accessModes: array(string({ description: "An access mode of the claim." }), {
      description: "Access modes of the claim. An empty list counts as the default.",
      default: DEFAULTS.accessModes,
    }),
    storageClassName: string({
      description: "Storage class. Unset means the cluster's default; empty turns dynamic provisioning off.",
    }),
  },
  { description: "A claim per pod, created from the StatefulSet's claim template. `{}` uses all defaults." },
);

const emptyDir = object(
  {
    medium: enumOf(["", "Memory"], { description: "Where the data is kept: on the node's disk (empty) or in memory." }),
    sizeLimit: quantity({ description: "Upper bound of the space that may be used." }),
  },
  { description: "Scratch space on the node, deleted with the pod." },
);

const hostPath = object(
  {
    path: required(string({ description: "Absolute path on the node.", pattern: "^/.*" })),
    type: string({ description: "What the kubelet must find at the path, e.g. DirectoryOrCreate." }),
  },
  { description: "A directory on the node." },
);

export const engineStorage = (description: string) =>
  object(
    { persistentVolumeClaim, emptyDir, hostPath },
    {
      description,
      default: {},
      rules: [
        {
          rule: "[has(self.persistentVolumeClaim), has(self.emptyDir), has(self.hostPath)].filter(set, set).size() < 2",
          message: "storage takes one backend: persistentVolumeClaim, emptyDir and hostPath exclude each other",
        },
      ],
    },
  );
export type EngineStorage = Infer<ReturnType<typeof engineStorage>>;
