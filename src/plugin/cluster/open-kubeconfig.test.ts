// What people point --kubeconfig and KUBECONFIG at by mistake.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { CommandError } from "../command-line/exit-codes.ts";
import { openKubeconfig } from "./open-kubeconfig.ts";

const folder = mkdtempSync(join(tmpdir(), "kubeconfig-"));
afterAll(() => rmSync(folder, { recursive: true }));
const SECRET = "eyJhbGciOi";

function file(name: string, content: string): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

const FLAG = "correct --kubeconfig, or leave it out to use KUBECONFIG or ~/.kube/config";
const FILE = "correct the file, or name another one with --kubeconfig";
mkdirSync(join(folder, "folder"));

test.each([
  { what: "a missing file", path: join(folder, "missing"), cause: "cannot be read: there is no such file", out: FLAG },
  { what: "a folder", path: join(folder, "folder"), cause: "cannot be read: it is a folder", out: FLAG },
  {
    what: "malformed YAML",
    path: file("malformed", `users:\n- user: {token: ${SECRET}\n  x: [`),
    cause: "is not YAML: line 3, column 3 cannot be parsed",
    out: FILE,
  },
  {
    what: "a token that reads like an alias",
    path: file("alias", `users:\n- user: {token: *${SECRET}}\n`),
    cause: "is not YAML: it cannot be parsed",
    out: FILE,
  },
  {
    what: "a token that reads like a block",
    path: file("block", `users:\n- user:\n    token: |${SECRET}\n`),
    cause: "is not YAML: line 3, column 13 cannot be parsed",
    out: FILE,
  },
  { what: "an empty file", path: file("empty", ""), cause: ": current-context is not set", out: FILE },
  { what: "another file", path: file("token", SECRET), cause: ": must be a mapping; ", out: FILE },
])("$what: file, cause and next step, and nothing of its content", async ({ path, cause, out }) => {
  const error = await openKubeconfig({ path, context: "", env: {} }).catch((thrown: unknown) => thrown);
  const message = error instanceof Error ? error.message : "";
  expect(message).toContain(path);
  expect(message).toContain(cause);
  expect(message.endsWith(`; ${out}`), message).toBe(true);
  expect(message).not.toContain(SECRET);
  expect(message).not.toContain("\n");
});

test("a file without permission", async () => {
  const readFile = (): string => {
    throw Object.assign(new Error("EACCES: permission denied, open"), { code: "EACCES" });
  };
  const opening = openKubeconfig({ path: "/closed", context: "", env: {}, readFile });
  await expect(opening).rejects.toThrow(`kubeconfig /closed cannot be read: you have no permission to read it`);
});

test("a read error without a code is about the file, and stays on one line", async () => {
  const readFile = (): string => {
    throw new Error("too long:\nat most 512 MiB");
  };
  const opening = openKubeconfig({ path: "/two\nlines", context: "", env: {}, readFile });
  await expect(opening).rejects.toThrow(
    new CommandError(`kubeconfig /two lines cannot be read: too long: at most 512 MiB; ${FILE}`),
  );
});

test("of KUBECONFIG the variable is named", async () => {
  const opening = openKubeconfig({ path: "", context: "", env: { KUBECONFIG: join(folder, "folder") } });
  await expect(opening).rejects.toThrow(/folder cannot be read: it is a folder; correct or unset KUBECONFIG/);
});
