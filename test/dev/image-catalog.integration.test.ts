// The images of the local cluster, opened and run: each as its own user on a root that cannot be written, with the command, environment
// and volumes that the operator's pods give it.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { buildImages, IMAGE_NAMES, type ImageArchive, type ImageName } from "../../dev/images/catalog.ts";
import { openPostgres } from "../../dev/stand-ins/metadata/postgres-connection.ts";
import { ENGINE_CONTRACT } from "../../src/api/engine-contract.ts";
import { START_SCRIPT } from "../../src/engine/render/start-script.ts";
import { renderPreStopCommand } from "../../src/gateway/pre-stop.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { renderEngineConfig } from "../harness/pods/stand-in-engine.ts";
import { type ImageRoot, openImageRoot, type RunContext } from "./support/image-root.ts";
import { checkHealth, metadataDocument, toXml } from "./support/stand-in-metadata.ts";

const GAUGE = ENGINE_CONTRACT.gauges;

const LOGIN = { user: "firebolt", password: "0123456789abcdef01234567", database: "firebolt_metadata" };
const ACCOUNT = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const START_MS = 120_000;

let folder: string;
let archives: readonly ImageArchive[];
const roots = new Map<ImageName, ImageRoot>();
const running = new Set<ChildProcess>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "image-catalog-"));
  chmodSync(folder, 0o755);
  archives = await buildImages(IMAGE_NAMES);
  for (const { name, file } of archives) roots.set(name, openImageRoot(file));
}, 300_000);
afterAll(async () => {
  for (const child of running) child.kill("SIGKILL");
  for (const root of roots.values()) root[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

function root(name: ImageName): ImageRoot {
  const found = roots.get(name);
  if (found === undefined) throw new Error(`${name} was not built`);
  return found;
}

interface Run {
  readonly child: ChildProcess;
  readonly said: () => string;
  readonly ended: Promise<unknown>;
}

function start(name: ImageName, command: readonly string[] | undefined, context: RunContext = {}): Run {
  const child = root(name).run([], command, context);
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));
  running.add(child);
  const ended = once(child, "close").then(() => running.delete(child));
  return { child, said: () => said, ended };
}

/** A folder that belongs to this user, as a volume of a pod does. */
function volume(name: string, user: number): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o777);
  if (process.getuid?.() === 0) chownSync(path, user, user);
  return path;
}

describe("all of them", () => {
  test("a second call finds what the first has made, and a build elsewhere gives the same bytes", async () => {
    const lines: string[] = [];
    expect(await buildImages(IMAGE_NAMES, { progress: (line) => lines.push(line) })).toEqual(archives);
    expect(lines).toEqual([]);
    const again = await buildImages(IMAGE_NAMES, { folder: join(folder, "again") });
    for (const [at, { file, reference }] of archives.entries()) {
      expect(again[at]?.reference).toBe(reference);
      expect(readFileSync(again[at]?.file ?? "").equals(readFileSync(file)), reference).toBe(true);
    }
  }, 300_000);

  test("references are fully qualified, none is latest, and the archive holds both names", () => {
    for (const { name, reference, alternative } of archives) {
      expect(reference).toMatch(new RegExp(`^localhost/firebolt/${name}:[\\w.-]+-[0-9a-f]{12}$`));
      const names = valueAt(root(name).index, ["manifests"]);
      expect(names).toMatchObject(
        [reference, alternative].map((one) => ({ annotations: { "io.containerd.image.name": one } })),
      );
    }
  });

  test("the images with a Node share it", () => {
    const layers = (["operator", "engine", "metadata"] as const).map((name) =>
      (valueAt(root(name).config, ["rootfs", "diff_ids"]) as string[]).slice(0, 2),
    );
    expect(layers[1]).toEqual(layers[0]);
    expect(layers[2]).toEqual(layers[0]);
  });

  test.each([
    { name: "operator", user: "65532:65532" },
    { name: "engine", user: "3473:3473" },
    { name: "metadata", user: "1111:1111" },
    { name: "envoy", user: "101:101" },
    { name: "postgres", user: "70:70" },
  ] as const)("$name runs as $user, which it knows by name", ({ name, user }) => {
    expect(valueAt(root(name).config, ["config", "User"])).toBe(user);
    expect(readFileSync(join(root(name).folder, "etc/passwd"), "utf8")).toMatch(
      new RegExp(`^\\w[\\w-]*:x:${user}:`, "m"),
    );
  });
});

test("pause exits immediately on a signal, also as process 1, and reaps zombies", async () => {
  expect(readdirSync(root("pause").folder)).toEqual(["pause"]);
  const pause = join(root("pause").folder, "pause");
  // An orphan that ends becomes the child of process 1; the zombie is gone only when it was waited for.
  const script = `(cat <&3 >/dev/null &); exec "$0" 3<&-`;
  const unshare = ["--pid", "--fork", "--kill-child", ...(process.getuid?.() === 0 ? [] : ["--map-root-user"])];
  const child = spawn("unshare", [...unshare, "sh", "-c", script, pause], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const orphan = child.stdio[3];
  if (!(orphan instanceof Writable)) throw new Error("the orphan cannot be terminated");
  const closed = once(child, "close");
  const childrenOf = (pid: number | undefined): readonly string[] =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  const [first] = await eventually(() => {
    const found = childrenOf(child.pid);
    return found.length === 1 && readFileSync(`/proc/${found[0]}/cmdline`, "utf8").startsWith(pause) && found;
  });
  expect(childrenOf(Number(first))).toHaveLength(1);
  orphan.end();
  await eventually(() => childrenOf(Number(first)).length === 0);
  process.kill(Number(first), "SIGTERM");
  await closed;
  expect(child.exitCode).toBe(0);
});

test("envoy is the real one, and the gateway's preStop command works in its image", async () => {
  const envoy = start("envoy", ["envoy", "--version"]);
  await envoy.ended;
  expect(envoy.said()).toMatch(/\/1\.40\.\d+\//);
  const asked = Promise.withResolvers<string>();
  const admin = createServer((socket) => {
    // The hook is killed below, and may still have the connection then.
    socket.on("error", () => undefined);
    socket.once("data", (chunk) => asked.resolve(chunk.toString()));
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\n\r\n"));
  }).listen(0, "127.0.0.1");
  await once(admin, "listening");
  const address = admin.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const hook = start("envoy", renderPreStopCommand(address.port));
  try {
    expect(await Promise.race([asked.promise, hook.ended.then(hook.said)])).toMatch(
      /^POST \/healthcheck\/fail HTTP\/1\.1\r\n/,
    );
    // Then it lets the traffic end.
    expect(hook.child.exitCode).toBeNull();
  } finally {
    hook.child.kill("SIGKILL");
    admin.close();
  }
});

test("the engine starts by the operator's own script, computes, and ends in order", async () => {
  const data = volume("engine-data", 3473);
  writeFileSync(
    join(data, "config.yaml"),
    stringify(renderEngineConfig({ engine: "e1", namespace: "ns1", address: "" })),
  );
  const engine = start("engine", ["/bin/bash", "-c", START_SCRIPT], {
    volumes: { "/var/lib/firebolt": data, "/run/firebolt": volume("engine-run", 3473) },
    environment: { HOSTNAME: "e1-g0-0", FAKE_IGNORE_METADATA: "1" },
  });
  const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${path}`, { ...init, signal: AbortSignal.timeout(60_000) });
  await eventually(async () => (await ask("8122/health/ready")).ok, { timeoutMs: START_MS });
  const answer = await ask("3473/", { method: "POST", body: "SELECT sum(value) FROM generate_series(1, 100)" });
  expect(await answer.json()).toMatchObject({ data: [[5050]] });
  expect(await (await ask("9090/metrics")).text()).toContain(`${GAUGE.running} 0`);
  engine.child.kill("SIGTERM");
  await engine.ended;
  expect(engine.child.exitCode, engine.said()).toBe(0);
});

describe("PostgreSQL and metadata", () => {
  const data = (): string => join(folder, "pg-data");
  const startPostgres = (): Run =>
    start("postgres", undefined, {
      volumes: {
        "/var/lib/postgresql/data": volume("pg-data", 70),
        "/var/run/postgresql": volume("pg-run", 70),
        "/tmp": volume("pg-tmp", 70),
      },
      environment: {
        POSTGRES_USER: LOGIN.user,
        POSTGRES_PASSWORD: LOGIN.password,
        POSTGRES_DB: LOGIN.database,
        PGDATA: "/var/lib/postgresql/data/pgdata",
      },
    });
  const connect = (login = LOGIN) => openPostgres({ host: "127.0.0.1", port: 5432, ...login, deadlineMs: 60_000 });
  const untilServing = (server: Run): Promise<unknown> =>
    eventually(
      async () => {
        if (server.child.exitCode !== null) throw new Error(server.said());
        (await connect()).close();
        return true;
      },
      { timeoutMs: START_MS },
    );
  const stop = async (server: Run): Promise<void> => {
    const signal = valueAt(root("postgres").config, ["config", "StopSignal"]);
    expect(signal).toBe("SIGINT");
    server.child.kill("SIGINT");
    await server.ended;
    expect(server.child.exitCode, server.said()).toBe(0);
  };

  test("the first start makes user and database, also where an earlier one was cut short", async () => {
    const draft = join(volume("pg-data", 70), "pgdata.new");
    mkdirSync(draft);
    writeFileSync(join(draft, "half"), "written");
    if (process.getuid?.() === 0) for (const path of [draft, join(draft, "half")]) chownSync(path, 70, 70);
    const server = startPostgres();
    await untilServing(server);
    expect(readdirSync(data())).toEqual(["pgdata"]);
    await expect(connect({ ...LOGIN, password: "guessed" })).rejects.toThrow("password authentication failed");
    const probe = start("postgres", ["pg_isready", "-U", LOGIN.user], {
      volumes: { "/var/run/postgresql": volume("pg-run", 70) },
    });
    await probe.ended;
    expect(probe.said()).toContain("accepting connections");
    await stop(server);
  }, 300_000);

  test("metadata keeps its account there across a restart on a volume that was opened to its group", async () => {
    // What the kubelet does at every mount of a volume with an fsGroup.
    execFileSync("chmod", ["-R", "g+rwX", data()]);
    execFileSync("chmod", ["g+s", join(data(), "pgdata")]);
    const server = startPostgres();
    await untilServing(server);
    const document = metadataDocument(7000, ACCOUNT, { host: "127.0.0.1", port: 5432, database: LOGIN.database });
    const configs = volume("configs", 1111);
    const files = { "config.xml": toXml(document), username: LOGIN.user, password: LOGIN.password };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(configs, name), text);
    const metadata = start("metadata", ["/dedicated-pensieve", "--config", "/configs/config.xml"], {
      volumes: { "/configs": configs, "/tmp": volume("metadata-tmp", 1111) },
      environment: { POSTGRES_USERNAME_FILE: "/configs/username", POSTGRES_PASSWORD_FILE: "/configs/password" },
    });
    await eventually(async () => (await checkHealth(7000)) === "SERVING", { timeoutMs: START_MS });
    const connection = await connect();
    expect(await connection.query("SELECT id, starts FROM accounts")).toEqual([[ACCOUNT, "1"]]);
    connection.close();
    metadata.child.kill("SIGTERM");
    await metadata.ended;
    await stop(server);
  }, 300_000);
});
