import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  birthOf,
  CLONE,
  claimState,
  FOLDER_PREFIX,
  isRunning,
  othersRunning,
  ownState,
  type PlaygroundState,
  parseState,
  readState,
  releaseState,
  stateFile,
} from "./state-file.ts";

let home: string;
let file: string;
let own: PlaygroundState;
const quiet = (): void => undefined;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "state-file-test-"));
  file = join(home, "cache", "playground.json");
  own = ownState(join(home, `${FOLDER_PREFIX}own`));
});
afterEach(() => rmSync(home, { recursive: true }));

test("the first process claims the file, a second one gets its state, and the claim is released with its owner", async () => {
  expect(await claimState(file, own, quiet)).toBeUndefined();
  expect(await claimState(file, own, quiet)).toEqual(own);
  await releaseState(file, own);
  expect(await readState(file)).toBeUndefined();
});

test("two at once: one of them wins", async () => {
  const results = await Promise.all([claimState(file, own, quiet), claimState(file, own, quiet)]);
  expect(results.filter((other) => other === undefined)).toHaveLength(1);
});

test("the files of a killed playground are removed, and its claim is taken over", async () => {
  const dead = { ...own, born: "another boot 1", folder: join(home, `${FOLDER_PREFIX}dead`) };
  mkdirSync(join(dead.folder, "deep"), { recursive: true });
  await claimState(file, dead, quiet);
  const said: string[] = [];
  expect(await claimState(file, own, (line) => said.push(line))).toBeUndefined();
  expect(existsSync(dead.folder)).toBe(false);
  expect(said.join()).toContain(dead.folder);
  expect(await readState(file)).toEqual(own);
});

test("the claim of another process is not released", async () => {
  await claimState(file, own, quiet);
  await releaseState(file, { ...own, born: "another boot 1" });
  expect(await readState(file)).toEqual(own);
});

test("a running process is distinguished from an earlier one with the same id", () => {
  expect(isRunning(own)).toBe(true);
  expect(isRunning({ ...own, born: `${own.born}0` })).toBe(false);
  expect(birthOf(2 ** 22 + 1)).toBeUndefined();
});

test.each([
  "{}",
  '{"pid":1,"born":"x","folder":"/"}',
  '{"pid":1,"born":"x","folder":"/home/me"}',
  '{"pid":"1","born":"x","folder":"/tmp/firebolt-playground-a"}',
])("a file with %s is not ours and is not changed", (text) => {
  expect(() => parseState(text, "/c/playground.json")).toThrow("/c/playground.json was not written by `npm start`");
});

test("an unreadable state file is an error, not a free claim", async () => {
  mkdirSync(join(home, "cache"));
  writeFileSync(file, "{}");
  await expect(claimState(file, own, quiet)).rejects.toThrow("was not written by `npm start`");
});

describe("two clones of one user", () => {
  const script = join(import.meta.dirname, "stop.ts");
  let env: NodeJS.ProcessEnv;
  let sleeper: ChildProcess;

  beforeEach(() => {
    env = { ...process.env, XDG_STATE_HOME: home };
    // Stands for a playground: `npm run stop` ends its process.
    sleeper = spawn("sleep", ["600"], { stdio: "ignore" });
  });
  afterEach(() => void sleeper.kill("SIGKILL"));

  async function running(clone: string): Promise<PlaygroundState> {
    const pid = sleeper.pid ?? 0;
    const state = { ...own, pid, born: birthOf(pid) ?? "", clone };
    expect(await claimState(stateFile(env, clone), state, quiet)).toBeUndefined();
    return state;
  }
  async function stop(): Promise<readonly [unknown, string]> {
    const child = spawn(process.execPath, [script], { env, stdio: ["ignore", "ignore", "pipe"] });
    const said = text(child.stderr);
    return [(await once(child, "close"))[0], await said];
  }

  test("`npm run stop` does not touch the playground of another clone, and names it", async () => {
    const other = await running("/home/me/other-clone");
    expect(await othersRunning(env)).toEqual([other]);
    const [code, said] = await stop();
    expect([code, sleeper.exitCode, sleeper.signalCode]).toEqual([0, null, null]);
    expect(said).toContain(`no playground is running from ${CLONE}`);
    expect(said).toContain(`a playground is running from /home/me/other-clone (process ${other.pid})`);
  });

  test("`npm run stop` stops the playground of its own clone", async () => {
    const closed = once(sleeper, "close");
    await running(CLONE);
    const [code, said] = await stop();
    await closed;
    expect([code, sleeper.signalCode]).toEqual([0, "SIGTERM"]);
    expect(said).toContain("stopped after");
  });

  test("two clones can run playgrounds at the same time", async () => {
    await running("/home/me/other-clone");
    expect(await claimState(stateFile(env), own, quiet)).toBeUndefined();
    expect(await othersRunning(env, "/home/me/other-clone")).toEqual([own]);
  });
});
