// Mistakes that the API server rejects: the response names the field, the value and the way out, and nothing is stored.
import { collectionPath } from "@firebolt-operator/kube";
import { valueAt } from "@firebolt-operator/kube/testing";
import { FireboltEngine } from "../../../src/api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../../src/api/firebolt-engine/engine-class.ts";
import { CLASS } from "../support/platform.ts";
import { expectSettled } from "./expect.ts";
import type { Fault, Scene } from "./fault.ts";
import { ENGINES, faultEngine } from "./targets.ts";

async function create(scene: Scene, spec: object): Promise<string> {
  // As kubectl requests it.
  const path = `${collectionPath(FireboltEngine, scene.namespace)}?fieldValidation=Strict`;
  const { status, body } = await scene.api.send({ method: "POST", path, body: faultEngine(scene, spec) });
  return `${status}: ${valueAt(body, ["message"])}`;
}

const nothingToHeal = async (): Promise<void> => undefined;

export const REFUSAL_FAULTS: readonly Fault[] = [
  {
    name: "unknown-field",
    target: ENGINES,
    signs: { refusal: /^400: .*unknown field "spec\.replicass"/ },
    make: async (scene) => ({ refusal: await create(scene, { replicass: 2 }), healed: nothingToHeal }),
  },
  {
    name: "missing-class",
    target: ENGINES,
    signs: { refusal: /^403: .*spec\.engineClassRef: Not found: "smal"/ },
    make: async (scene) => ({ refusal: await create(scene, { engineClassRef: "smal" }), healed: nothingToHeal }),
  },
  {
    name: "class-in-use-deleted",
    target: ENGINES,
    engine: {},
    load: true,
    signs: {
      refusal:
        /^403: .*"small" in namespace "faults" is still referenced by .*: clear spec\.engineClassRef there first, or delete them/,
    },
    async make(scene) {
      const path = `${collectionPath(FireboltEngineClass, scene.namespace)}/${CLASS}`;
      const { status, body } = await scene.api.send({ method: "DELETE", path });
      return { refusal: `${status}: ${valueAt(body, ["message"])}`, healed: () => expectSettled(scene) };
    },
  },
];
