// Queries that a gateway cannot serve: its response has the cause and the next step.
import { expect } from "vitest";
import { query } from "../../../dev/deploy/query.ts";
import { gatewayOf } from "../support/cluster-harness.ts";
import { editEngine, expectSettled, expectStopped } from "./expect.ts";
import type { Fault, Scene } from "./fault.ts";
import { ENGINES } from "./targets.ts";
import { until } from "./wait.ts";

async function ask(scene: Scene, engine: string): Promise<string> {
  const gateway = await gatewayOf(scene.cluster, scene);
  const { status, body } = await query({ gateway, engine, sql: "SELECT 42" });
  return `${status}: ${body}`;
}

/**
 * As soon as the gateways have observed the engine: until then, and on a busy machine, they may respond with a retry.
 */
const untilRefused = (scene: Scene, engine: string, sign: RegExp): Promise<string> =>
  until(`a rejected query to ${engine}`, async () => {
    const response = await ask(scene, engine);
    expect(response).toMatch(sign);
    return response;
  });

const UNKNOWN = /^404: there is no engine "unknown-engin" in this namespace/;
const STOPPED =
  /^503: engine "stopped-without-auto-stop" is stopped, and no query starts it because auto-stop is off: .*kubectl firebolt start/;

export const QUERY_FAULTS: readonly Fault[] = [
  {
    name: "unknown-engine",
    target: ENGINES,
    engine: {},
    signs: { refusal: UNKNOWN },
    make: async (scene) => ({
      refusal: await untilRefused(scene, "unknown-engin", UNKNOWN),
      async healed() {
        expect(await ask(scene, scene.engine)).toMatch(/^200/);
      },
    }),
  },
  {
    name: "stopped-without-auto-stop",
    target: ENGINES,
    engine: {},
    signs: { refusal: STOPPED },
    async make(scene) {
      await editEngine(scene, { replicas: 0 });
      await until(`${scene.engine} stopped`, () => expectStopped(scene));
      return {
        refusal: await untilRefused(scene, scene.engine, STOPPED),
        mend: () => editEngine(scene, { replicas: 1 }),
        async healed() {
          await expectSettled(scene);
          expect(await ask(scene, scene.engine)).toMatch(/^200/);
        },
      };
    },
  },
];
