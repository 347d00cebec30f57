// ConfigMaps as tests of the runtime use them: a kind that every API server has and nobody minds.
import type { KubeObject } from "../../src/core/object.ts";
import { defineResource } from "../../src/core/resource.ts";

export interface ConfigMapObject extends KubeObject {
  data?: Record<string, string>;
}

export const ConfigMap = defineResource<ConfigMapObject>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});
