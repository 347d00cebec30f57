// The set-up script in a project of its own, with a stand-in for npm that installs nothing but the Node that runs this test.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

let project: string;

const NPM = `
const { appendFileSync, mkdirSync, symlinkSync, writeFileSync, existsSync } = require("node:fs");
appendFileSync("npm-calls", process.argv.slice(2).join(" ") + "\\n");
console.log("added 1 package");
mkdirSync("node_modules/.bin", { recursive: true });
if (!existsSync("node_modules/.bin/node")) symlinkSync(process.execPath, "node_modules/.bin/node");
setTimeout(() => writeFileSync("node_modules/.package-lock.json", "{}"), 300);
`;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "with-setup-test-"));
  for (const folder of ["scripts", "dev/assets", "dev/playground", "dev/assets/system"])
    mkdirSync(join(project, folder), { recursive: true });
  cpSync(join(import.meta.dirname, "with-setup.mjs"), join(project, "scripts/with-setup.mjs"));
  write("package.json", '{ "type": "module" }');
  write("package-lock.json", "{}");
  write("npm.cjs", NPM);
  write("dev/assets/main.ts", 'console.error("assets", ...process.argv.slice(2)); console.log("/the/folder");');
  write("dev/playground/start.ts", "process.exitCode = Number(process.argv[2]);");
});
afterEach(() => rmSync(project, { recursive: true }));

const write = (name: string, text: string) => writeFileSync(join(project, name), text);
const npmCalls = () => (existsSync(join(project, "npm-calls")) ? readFileSync(join(project, "npm-calls"), "utf8") : "");

function start(...args: readonly string[]) {
  const env = {
    PATH: process.env["PATH"],
    npm_execpath: join(project, "npm.cjs"),
    npm_node_execpath: process.execPath,
  };
  const child = spawn(process.execPath, [join(project, "scripts/with-setup.mjs"), ...args], { env });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (text) => {
    stdout += text;
  });
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal, stdout, stderr }));
  return { child, ended, stdout: () => stdout };
}

test("a fresh clone installs its packages first, and only the result is on standard output", async () => {
  const { stdout, stderr, code } = await start("assets", "--with", "kwok").ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "/the/folder\n" });
  expect(stderr).toContain("npm ci: node_modules is missing or incomplete");
  expect(stderr).toContain("assets --with kwok");
  expect(npmCalls()).toBe("ci --no-audit --no-fund --loglevel=error\n");
});

test("two at once install once", async () => {
  const [one, other] = await Promise.all([start("assets").ended, start("assets").ended]);
  expect([one.code, other.code]).toEqual([0, 0]);
  expect(npmCalls()).toBe("ci --no-audit --no-fund --loglevel=error\n");
});

test("packages are installed again only after the lock file has changed", async () => {
  await start("assets").ended;
  await start("assets").ended;
  expect(npmCalls().split("\n").length - 1).toBe(1);
  const later = new Date(Date.now() + 5_000);
  utimesSync(join(project, "package-lock.json"), later, later);
  expect((await start("assets").ended).stderr).toContain("npm ci: node_modules is older than package-lock.json");
});

test("the exit code is passed on", async () => {
  expect((await start("start", "7").ended).code).toBe(7);
});

test("programs that cannot be had end the run before it starts", async () => {
  write("dev/assets/main.ts", "process.exitCode = 1;");
  write("dev/assets/system/main.ts", 'console.log("started");');
  expect(await start("bench").ended).toMatchObject({ code: 1, stdout: "" });
});

/** What a cold `npm test` runs: programs are missing, and each part says when it runs. */
function coldProject(unitTests: string) {
  mkdirSync(join(project, "dev/sandbox"), { recursive: true });
  mkdirSync(join(project, "node_modules/vitest"), { recursive: true });
  // The build ends when the unit tests have begun: run one after the other, this would never end.
  write(
    "dev/assets/main.ts",
    `import { existsSync } from "node:fs";
    if (process.argv.includes("--missing")) console.log("kube-apiserver");
    else { const wait = setInterval(() => { if (existsSync("unit-began")) clearInterval(wait); }, 10); }`,
  );
  write("dev/assets/system/main.ts", "");
  write("dev/sandbox/network.sh", 'exec "$@"');
  write("dev/sandbox/sandbox.sh", 'exec "$@"');
  write(
    "node_modules/vitest/vitest.mjs",
    `import { writeFileSync } from "node:fs";
    console.log("vitest", ...process.argv.slice(2));
    if (process.argv.includes("--project=unit")) { writeFileSync("unit-began", ""); ${unitTests} }`,
  );
  mkdirSync(join(project, "scripts/test"), { recursive: true });
  write("scripts/test/suite.ts", 'console.log("suite", ...process.argv.slice(2));');
}

test("while programs are compiled, the tests that need none run, and not a second time", async () => {
  coldProject("");
  expect(await start("test").ended).toMatchObject({
    code: 0,
    stdout: "vitest run --project=unit\nsuite --without=unit\n",
  });
});

test("a failure of the early tests ends the run with their code, after the others", async () => {
  coldProject("process.exitCode = 3;");
  const { code, stdout, stderr } = await start("test").ended;
  expect(code).toBe(3);
  expect(stdout).toContain("suite --without=unit");
  expect(stderr).toContain("the tests that ran during the set-up FAILED");
});

test("a build that fails ends the run, whatever the early tests say", async () => {
  coldProject("");
  write(
    "dev/assets/main.ts",
    'if (process.argv.includes("--missing")) console.log("etcd"); else process.exitCode = 4;',
  );
  expect(await start("test").ended).toMatchObject({ code: 4, stdout: "vitest run --project=unit\n" });
});

test("a signal reaches the program", async () => {
  write(
    "dev/playground/start.ts",
    'process.on("SIGTERM", () => process.exit(9)); setInterval(() => {}, 1e6); console.log("up");',
  );
  const running = start("start");
  await once(running.child.stdout, "data");
  running.child.kill("SIGTERM");
  expect((await running.ended).code).toBe(9);
});

test("an unknown command is refused", async () => {
  expect(await start("fly").ended).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("start|stop|test|changed|repeat|e2e|faults|bench|assets"),
  });
});
