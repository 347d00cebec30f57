// Credential plugins: their input, how long their credential is used, and the message when they fail.
import { expect, test } from "vitest";
import { CredentialsError } from "../core/errors.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import type { ClusterConfig, ExecPlugin } from "./cluster-config.ts";
import { ExecCredentials, parseExecCredential } from "./exec-credentials.ts";
import { type ProcessRequest, runProcess } from "./exec-process.ts";

const V1 = "client.authentication.k8s.io/v1";
const plugin: ExecPlugin = {
  apiVersion: V1,
  command: "login",
  args: ["get-token"],
  env: { REGION: "x" },
  interactiveMode: "IfAvailable",
  provideClusterInfo: false,
  installHint: undefined,
  clusterConfig: { audience: "a" },
};
const config: ClusterConfig = {
  origin: "test",
  server: "https://api",
  tlsServerName: "name",
  authentication: { type: "exec", plugin },
};
const printed = (status: object): string => JSON.stringify({ apiVersion: V1, kind: "ExecCredential", status });

function setUp(change: Partial<ExecPlugin> = {}, hasTerminal = false) {
  const clock = new ManualClock();
  const runs: ProcessRequest[] = [];
  const lifetimeMs = { value: undefined as number | undefined };
  const credentials = new ExecCredentials({
    plugin: { ...plugin, ...change },
    config,
    caPem: () => "CA",
    clock,
    hasTerminal,
    async run(request) {
      runs.push(request);
      const expiry =
        lifetimeMs.value === undefined ? undefined : new Date(clock.now() + lifetimeMs.value).toISOString();
      return printed({ token: `t${runs.length}`, expirationTimestamp: expiry });
    },
  });
  return { clock, runs, credentials, lifetimeMs };
}

test("many callers share one run, and the credential is cached", async () => {
  const { credentials, runs } = setUp();
  const tokens = await Promise.all([credentials.get(), credentials.get(), credentials.get()]);
  expect(tokens.map((credential) => credential.token)).toEqual(["t1", "t1", "t1"]);
  expect((await credentials.get()).token).toBe("t1");
  expect(runs).toHaveLength(1);
});

test("it is renewed a minute before it expires", async () => {
  const { clock, credentials, lifetimeMs } = setUp();
  lifetimeMs.value = 600_000;
  await credentials.get();
  await clock.advance(539_999);
  expect((await credentials.get()).token).toBe("t1");
  await clock.advance(1);
  expect((await credentials.get()).token).toBe("t2");
});

test("a credential with a lifetime below the leeway is still used for most of it", async () => {
  const { clock, credentials, lifetimeMs } = setUp();
  lifetimeMs.value = 8000;
  await credentials.get();
  await clock.advance(5999);
  expect((await credentials.get()).token).toBe("t1");
});

test("a 401 runs the plugin again, once for all requests with that credential", async () => {
  const { credentials, runs } = setUp();
  const refused = await credentials.get();
  const [first, second] = await Promise.all([credentials.replace(refused), credentials.replace(refused)]);
  expect([first.token, second.token, (await credentials.replace(refused)).token]).toEqual(["t2", "t2", "t2"]);
  expect(runs).toHaveLength(2);
});

test("a failed run is not cached", async () => {
  let fail = true;
  const credentials = new ExecCredentials({
    plugin,
    config,
    caPem: () => undefined,
    clock: new ManualClock(),
    hasTerminal: false,
    run: async () => {
      if (fail) throw new CredentialsError("no network");
      return printed({ token: "t" });
    },
  });
  await expect(credentials.get()).rejects.toThrow("no network");
  fail = false;
  expect((await credentials.get()).token).toBe("t");
});

test("the plugin receives the cluster only if configured", async () => {
  const info = async (change: Partial<ExecPlugin>, hasTerminal: boolean): Promise<unknown> => {
    const { credentials, runs } = setUp(change, hasTerminal);
    await credentials.get();
    expect(runs[0]).toMatchObject({ command: "login", args: ["get-token"], env: { REGION: "x" } });
    return JSON.parse(runs[0]?.env["KUBERNETES_EXEC_INFO"] ?? "");
  };
  expect(await info({}, false)).toEqual({ apiVersion: V1, kind: "ExecCredential", spec: { interactive: false } });
  expect(await info({ provideClusterInfo: true }, true)).toEqual({
    apiVersion: V1,
    kind: "ExecCredential",
    spec: {
      interactive: true,
      cluster: {
        server: "https://api",
        "tls-server-name": "name",
        "certificate-authority-data": Buffer.from("CA").toString("base64"),
        config: { audience: "a" },
      },
    },
  });
});

test("a plugin that requires a terminal is rejected without one", async () => {
  await expect(setUp({ interactiveMode: "Always" }).credentials.get()).rejects.toThrow("there is no terminal");
  expect((await setUp({ interactiveMode: "Always" }, true).credentials.get()).token).toBe("t1");
});

test.each([
  { name: "text", output: "token: abc", want: "is not JSON" },
  { name: "another kind", output: "{}", want: "did not print an ExecCredential" },
  {
    name: "another version",
    output: JSON.stringify({ kind: "ExecCredential", apiVersion: "v9" }),
    want: "returned v9",
  },
  { name: "no credentials", output: printed({}), want: "neither a token nor a client certificate" },
  { name: "half a certificate", output: printed({ clientCertificateData: "c" }), want: "only one of" },
  {
    name: "an invalid time",
    output: printed({ token: "t", expirationTimestamp: "later" }),
    want: 'invalid expirationTimestamp "later"',
  },
])("refuses $name, without quoting the output", ({ output, want }) => {
  expect(() => parseExecCredential(output, plugin)).toThrow(want);
  expect(() => parseExecCredential(output, plugin)).not.toThrow("abc");
});

const request = (script: string): ProcessRequest => ({
  command: process.execPath,
  args: ["-e", script],
  env: { GREETING: "hello" },
  interactive: false,
  timeoutMs: 10_000,
  installHint: undefined,
});

test("a real process: its output, its environment", async () => {
  expect(await runProcess(request("process.stdout.write(process.env.GREETING)"))).toBe("hello");
});

test("a real process that fails shows its stderr and exit code", async () => {
  const failing = runProcess(request("console.error('please log in'); process.exit(3)"));
  await expect(failing).rejects.toThrow(/exited with code 3: please log in/);
});

test("a real process that hangs is terminated at its deadline", async () => {
  const hanging = runProcess({ ...request("setInterval(() => {}, 1000)"), timeoutMs: 200 });
  await expect(hanging).rejects.toThrow(/was terminated by SIGKILL \(timeout 0.2 s\)/);
});

test("a missing command is reported with its install hint", async () => {
  const missing = runProcess({ ...request(""), command: "no-such-plugin", installHint: "see https://example.com" });
  await expect(missing).rejects.toThrow(/no-such-plugin was not found: install it.*\nsee https:\/\/example.com/);
});
