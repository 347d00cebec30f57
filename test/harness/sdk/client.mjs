// The npm SDK of Firebolt as a program: client.mjs check|load URL. Prints one JSON document.
//
// check: connects and runs statements of every kind; values are printed as Node shows them, with their types.
// load:  keeps 50 connections busy with one query after the other until standard input closes; every pod that answers for
// the first time is a line on standard error.
import { once } from "node:events";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import sdk from "firebolt-sdk";

const CONCURRENT = 50;

/**
 * The release on npm has no mode for engines without an account: it logs in, asks for the address of an engine, and speaks TLS alone. Its
 * HTTP client can be replaced. This one answers the first two itself and sends queries as they are.
 */
class EngineHttpClient {
  #engineUrl;

  constructor(engineUrl) {
    this.#engineUrl = engineUrl;
  }

  request(method, url, { headers, body, noAuth } = {}) {
    const controller = new AbortController();
    const send = async () => {
      if (noAuth) return { access_token: "none", expires_in: 86_400 };
      if (method === "GET") return { engineUrl: this.#engineUrl };
      const target = new URL(new URL(url).search, this.#engineUrl);
      const response = await fetch(target, { method, headers, body, signal: controller.signal });
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      return {
        headers: response.headers,
        text: () => response.text(),
        get body() {
          return Readable.fromWeb(response.body);
        },
      };
    };
    const ready = send();
    return { ready: () => ready, abort: () => controller.abort() };
  }
}

function open(url) {
  const say = (...words) => process.stderr.write(`${words.join(" ")}\n`);
  const dependencies = { httpClient: new EngineHttpClient(url), logger: { log: say, debug: say, error: say } };
  const auth = { client_id: "none", client_secret: "none" };
  return sdk.Firebolt({ dependencies }).connect({ auth, account: "none", useCache: false });
}

async function failure(action) {
  try {
    await action();
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
  return "no error";
}

async function check(url, typesSql) {
  const connection = await open(url);
  const run = async (sql, options) => (await connection.execute(sql, options)).fetchResult();
  const [[pod]] = (await run("SELECT whoami()")).data;
  const { data, meta } = await run(typesSql);
  const types = Object.fromEntries(meta.map(({ name, type }, at) => [name, [type, inspect(data[0][at])]]));
  const named = await run("SELECT 1 AS a, 'x' AS b", { response: { normalizeData: true } });
  const stream = await connection.executeStream("SELECT value FROM generate_series(1, 2500)");
  let streamed = 0;
  const { data: rows } = await stream.streamResult();
  rows.on("data", ([value]) => {
    streamed += value;
  });
  await once(rows, "end");
  return {
    pod,
    types,
    parameters: (await run("SELECT ? AS a, ? AS b, ? AS c, ? AS d", { parameters: [7, "it's", null, 2.5] })).data[0],
    "named parameters": (await run("SELECT :a AS a", { namedParameters: { a: 7 } })).data[0],
    "rows by name": named.data,
    streamed,
    error: await failure(() => run("SELEC 1")),
    setting: await failure(() => run("SELECT 1", { settings: { no_such_setting: 1 } })),
    after: (await run("SELECT 42")).data[0][0],
  };
}

async function load(url) {
  let isStopped = false;
  process.stdin.resume().once("end", () => {
    isStopped = true;
  });
  const pods = {};
  const failures = [];
  let sent = 0;
  const lane = async () => {
    const connection = await open(url);
    while (!isStopped) {
      sent++;
      try {
        const statement = await connection.execute("SELECT whoami()");
        const [[pod]] = (await statement.fetchResult()).data;
        if (!(pod in pods)) process.stderr.write(`${pod}\n`);
        pods[pod] = (pods[pod] ?? 0) + 1;
      } catch (error) {
        failures.push(`${error.name}: ${error.message}`);
      }
      await sleep(100);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, lane));
  return { sent, pods, failed: failures.length, failures: failures.slice(0, 5) };
}

const [, , mode, target, ...rest] = process.argv;
const result = mode === "check" ? await check(target, ...rest) : await load(target);
process.stdout.write(`${JSON.stringify(result)}\n`);
