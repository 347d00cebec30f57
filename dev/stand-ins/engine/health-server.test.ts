import { once } from "node:events";
import type { Server } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../../../test/harness/control-plane/requests.ts";
import { EngineState } from "./engine-state.ts";
import { createHealthServer } from "./health-server.ts";
import { createQueryServer } from "./query-server.ts";

const config = {
  document: {},
  hash: "",
  engineId: "e",
  hosts: [],
  metadataEndpoint: "",
  terminationGraceMs: 0,
};
let state: EngineState;
let servers: readonly [health: Server, query: Server];

beforeEach(async () => {
  state = new EngineState();
  const identity = { pod: "e-g0-0", generation: "0", configHash: "" };
  const runSql = () => ({ columns: [], rows: [] });
  servers = [
    createHealthServer({ state, config, crash: () => undefined }),
    createQueryServer({ state, identity, runSql, onMarker: () => undefined, onWait: () => undefined }),
  ];
  for (const server of servers) await once(server.listen(0, "127.0.0.1"), "listening");
});
afterEach(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

function post([health, query]: typeof servers, path: string, options: RequestInit = {}): Promise<Response> {
  const address = (path === "/" ? query : health).address();
  if (typeof address !== "object" || address === null) throw new Error("the server does not listen");
  return fetch(`http://127.0.0.1:${address.port}${path}`, { method: "POST", ...options });
}

const turn = async (path: string) => expect((await post(servers, path)).status).toBe(200);

interface Running {
  readonly answer: Promise<Response>;
  readonly isAnswered: () => boolean;
}

/** Sends a statement and waits until it runs. */
async function running(sql: string, signal: AbortSignal | null = null): Promise<Running> {
  const before = state.total;
  let answered = false;
  const answer = post(servers, "/", { body: sql, signal }).finally(() => {
    answered = true;
  });
  await eventually(() => state.total > before);
  return { answer, isAnswered: () => answered };
}

/** A response to a later request shows that earlier requests were handled. */
async function othersAnswered(): Promise<void> {
  for (let round = 0; round < 2; round++)
    expect((await post(servers, "/", { body: "SELECT whoami()" })).status).toBe(200);
}

describe("finish", () => {
  test("ends what runs with its value, and nothing that comes later", async () => {
    const waiting = [await running("SELECT sleep(60000)"), await running("SELECT suspend(50000)")];
    await turn("/test/finish");
    const answers = await Promise.all(waiting.map(({ answer }) => answer));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await Promise.all(answers.map((answer) => answer.json()))).toMatchObject([
      { data: [[60_000]] },
      { data: [[50_000]] },
    ]);
    const later = await running("SELECT sleep(60000)");
    await othersAnswered();
    expect(later.isAnswered()).toBe(false);
    await turn("/test/finish");
    expect((await later.answer).status).toBe(200);
  });

  test("ends what is held, too", async () => {
    await turn("/test/hold?v=1");
    const { answer } = await running("SELECT sleep(60000)");
    await turn("/test/finish");
    expect(await (await answer).json()).toMatchObject({ data: [[60_000]] });
  });
});

describe("hold", () => {
  beforeEach(() => turn("/test/hold?v=1"));

  test("holds responses until the release, and none afterwards", async () => {
    const { answer, isAnswered } = await running("SELECT sleep(1)");
    // Timers of equal length fire in order: the query's time has passed.
    await sleep(1);
    await othersAnswered();
    expect(isAnswered()).toBe(false);
    expect(state.count("running")).toBe(1);
    await turn("/test/hold?v=0");
    expect(await (await answer).json()).toMatchObject({ data: [[1]] });
    expect(await (await post(servers, "/", { body: "SELECT suspend(1)" })).json()).toMatchObject({ data: [[1]] });
  });

  test("does not keep other statements", async () => {
    expect((await post(servers, "/", { body: "SELECT whoami()" })).status).toBe(200);
  });

  test("ends for a query that is killed", async () => {
    const { answer } = await running("SELECT sleep(1)");
    state.killQueries();
    expect(await (await answer).text()).toContain("killed because the engine is shutting down");
    expect(state.total).toBe(0);
  });

  test("ends for a query whose client leaves", async () => {
    const client = new AbortController();
    const { answer } = await running("SELECT sleep(1)", client.signal);
    client.abort();
    await expect(answer).rejects.toThrow();
    await state.untilIdle();
  });
});
