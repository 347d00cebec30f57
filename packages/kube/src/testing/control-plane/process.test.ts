// Real processes: a shell stands in for the servers.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AddressInUseError } from "./ports.ts";
import { startProcess } from "./process.ts";
import { openWorkspace, type Workspace } from "./workspace.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = openWorkspace("process-test-");
});
afterEach(() => workspace.close());

/** The folder on the command line marks a process as the workspace's own. */
const shell = (script: string, graceMs?: number) =>
  startProcess(workspace, {
    name: "shell",
    binary: "/bin/sh",
    args: ["-c", script, workspace.folder],
    ...(graceMs === undefined ? {} : { graceMs }),
  });

test("a program that exits early is reported with its exit code and the end of its log", async () => {
  const failing = shell("echo unknown flag: --nonsense >&2; exit 3");
  await expect(failing.waitUntilReady(() => Promise.resolve(false), 5_000)).rejects.toThrow(
    /shell exited with code 3.*unknown flag: --nonsense/s,
  );
});

test("a port in use is distinguished from other failures", async () => {
  const failing = shell("echo listen tcp 127.0.0.1:1: bind: address already in use; exit 1");
  await expect(failing.waitUntilReady(() => Promise.resolve(false), 5_000)).rejects.toThrow(AddressInUseError);
});

test("a program that never becomes ready fails with the last probe failure as the cause", async () => {
  const sleeping = shell("sleep 60");
  const refused = new Error("connection refused");
  const waiting = sleeping.waitUntilReady(() => Promise.reject(refused), 100);
  await expect(waiting).rejects.toMatchObject({
    message: expect.stringContaining("not ready after 0.1 s"),
    cause: refused,
  });
});

test("a program gets only the variables it is given", async () => {
  const printing = startProcess(workspace, {
    name: "printing",
    binary: "/bin/sh",
    args: ["-c", 'echo "$GREETING $VITEST"', workspace.folder],
    env: { GREETING: "hello" },
  });
  await expect(printing.waitUntilReady(() => Promise.resolve(false), 5_000)).rejects.toThrow(/log:\nhello$/);
});

test("a binary that does not exist is reported", async () => {
  const missing = startProcess(workspace, { name: "ghost", binary: "/nowhere/ghost", args: [] });
  await expect(missing.waitUntilReady(() => Promise.resolve(false), 5_000)).rejects.toThrow(
    /ghost could not be started.*ENOENT/,
  );
});

test("stopping waits until the program has exited, and kills it if it ignores the signal", async () => {
  const stubborn = shell("trap '' TERM; echo ready; while :; do sleep 0.05; done", 100);
  await stubborn.waitUntilReady(() => Promise.resolve(stubborn.logTail() === "ready"), 5_000);
  await stubborn.stop();
  expect(stubborn.ending()).toBe("was terminated by SIGKILL");
});

test("closing the workspace terminates its processes, removes the folder and spares other processes", async () => {
  const own = shell("while :; do sleep 0.05; done");
  const stranger = spawn("/bin/sleep", ["60"]);
  try {
    workspace.adopt(stranger.pid ?? -1);
    await workspace.close();
    expect(existsSync(workspace.folder)).toBe(false);
    await own.stop();
    expect(own.ending()).toBe("was terminated by SIGKILL");
    expect(stranger.exitCode).toBeNull();
    expect(stranger.signalCode).toBeNull();
  } finally {
    stranger.kill("SIGKILL");
    await once(stranger, "exit");
  }
});

test("a workspace is created in its parent folder, and beforeRemoval runs before its removal", async () => {
  const inner = openWorkspace("inner-", {
    parent: workspace.folder,
    beforeRemoval: ["/bin/sh", "-c", 'cp "$1/note" "$1/../kept"', "before"],
  });
  expect(dirname(inner.folder)).toBe(workspace.folder);
  inner.write("note", "hello");
  await inner.close();
  expect(existsSync(inner.folder)).toBe(false);
  expect(readFileSync(join(workspace.folder, "kept"), "utf8")).toBe("hello");
});

test("if beforeRemoval fails, the folder stays and closing fails", async () => {
  const inner = openWorkspace("inner-", { parent: workspace.folder, beforeRemoval: ["/bin/false"] });
  await expect(inner.close()).rejects.toThrow(`${inner.folder} could not be removed`);
  expect(existsSync(inner.folder)).toBe(true);
});
