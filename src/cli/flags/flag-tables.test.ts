// Every flag of the manager and of the wake agent as documented: its default, its line in
// --help, and the error for a wrong value.
import { describe, expect, test } from "vitest";
import { OPERATOR_DEFAULTS } from "../../api/operator-defaults.ts";
import { describeFlags, type FlagTable, parseFlags, SettingError, UsageError } from "./flag-table.ts";
import { renderingOf } from "./instance-flags.ts";
import { boundsOf, MANAGER_FLAGS, selectorOf } from "./manager-flags.ts";
import { WAKE_AGENT_FLAGS } from "./wake-agent-flags.ts";

const { images } = OPERATOR_DEFAULTS;
const LOGGING = {
  "zap-devel": "false",
  "zap-encoder": "json",
  "zap-log-level": "info",
  "zap-stacktrace-level": "error",
  "zap-time-encoding": "rfc3339",
};

/** As documented; gateways have the runtime's profile too (design: runtime-default-seccomp). */
const MANAGER: Readonly<Record<string, string>> = {
  version: "false",
  namespaces: "",
  "watch-label-selector": "",
  "leader-elect": "false",
  "leader-election-namespace": "",
  "leader-election-id": "c662f7f5.firebolt.io",
  "leader-election-lease-duration": "15s",
  "leader-election-renew-deadline": "10s",
  "leader-election-retry-period": "2s",
  "health-probe-bind-address": ":8081",
  "metrics-bind-address": "0",
  "metrics-secure": "true",
  "metrics-cert-path": "",
  "metrics-cert-name": "tls.crt",
  "metrics-cert-key": "tls.key",
  "enable-webhooks": "true",
  "webhook-port": "9443",
  "webhook-cert-path": "",
  "webhook-cert-name": "tls.crt",
  "webhook-cert-key": "tls.key",
  "webhook-cert-mode": "files",
  "enable-http2": "false",
  "engine-max-cpu": "",
  "engine-max-memory": "",
  "engine-max-ephemeral-storage": "",
  "gateway-wake-cluster-role": "",
  "wake-agent-image": "",
  "wake-agent-image-pull-policy": "",
  "wake-mode": "annotation",
  "metadata-config-format": "xml",
  "default-image-engine": images.engine,
  "default-image-metadata": images.metadata,
  "default-image-envoy": images.envoy,
  "default-image-postgres": images.postgres,
  "default-image-engine-web": images.engineWeb,
  "component-seccomp": "RuntimeDefault",
  "component-user-ids": "true",
  "engine-seccomp": "none",
  "max-concurrent-reconciles": "engine=8,instance=2,engineclass=2",
  "kube-api-qps": "0",
  "kube-api-burst": "0",
  kubeconfig: "",
  telemetry: "false",
  "telemetry-endpoint": "",
  "shutdown-timeout": "8s",
  ...LOGGING,
};

const WAKE_AGENT: Readonly<Record<string, string>> = {
  namespace: "",
  "hold-port": "9902",
  "demand-port": "9903",
  "envoy-admin-url": "",
  "envoy-memory-limit-bytes": "",
  "per-hold-bytes": "0",
  "fallback-hold-cap": "256",
  "hold-timeout": "120s",
  "demand-retention": "10m",
  "stamp-annotation": "false",
  ...LOGGING,
};

describe.each<{ program: string; table: FlagTable; documented: Readonly<Record<string, string>> }>([
  { program: "manager", table: MANAGER_FLAGS, documented: MANAGER },
  { program: "wake-agent", table: WAKE_AGENT_FLAGS, documented: WAKE_AGENT },
])("$program", ({ table, documented }) => {
  const help = describeFlags(table).split("\n");

  test.each(Object.entries(documented))("--%s: its default is %j, it parses, and --help has it", (name, value) => {
    expect(table[name]?.default).toBe(value);
    expect(parseFlags(table, [`--${name}=${value}`])).toEqual(parseFlags(table, []));
    const line = help.find((text) => text.startsWith(`  --${name} `));
    expect(line).toBeDefined();
    if (value !== "") expect(line).toContain(`(default ${value})`);
  });
});

test("no-telemetry: its flags are accepted, and their help says that they have no effect", () => {
  expect(parseFlags(MANAGER_FLAGS, ["--telemetry", "--telemetry-endpoint=x"])).toMatchObject({ telemetry: true });
  for (const name of ["telemetry", "telemetry-endpoint"])
    expect(describeFlags(MANAGER_FLAGS)).toMatch(new RegExp(`--${name} .*no effect: telemetry is not implemented`));
});

describe("a wrong value: one line that names the flag and the next step", () => {
  test.each([
    ["--namespaces=Team_A", /--namespaces=Team_A: "Team_A" is not a valid namespace name/],
    ["--wake-mode=poll", /--wake-mode=poll: must be one of annotation, demand/],
    ["--gateway-wake-cluster-role=a/b", /must be the name of a ClusterRole/],
    ["--component-seccomp=Localhost:x", /must be one of none, RuntimeDefault/],
    ["--engine-seccomp=Localhost:", /must be none, RuntimeDefault or Localhost:<profile>/],
    ["--metadata-config-format=toml", /must be one of xml, yaml/],
    ["--wake-agent-image-pull-policy=Sometimes", /must be one of/],
    ["--webhook-port=0", /must be a port/],
    ["--webhook-cert-mode=vault", /must be one of files, self-managed/],
    ["--max-concurrent-reconciles=engine=0", /"engine=0" must be NAME=N/],
    ["--kube-api-qps=-1", /must not be negative/],
    ["--leader-election-lease-duration=15", /must be a duration/],
    ["--health-probe-bind-address=8081", /must be host:port/],
    ["--enable-http2=perhaps", /must be true or false/],
    ["--zap-encoder=xml", /must be one of json, console/],
    ["--zap-stacktrace-level=warn", /must be one of info, error, panic/],
  ])("%s", (arg, want) => {
    expect(() => parseFlags(MANAGER_FLAGS, [arg])).toThrow(UsageError);
    expect(() => parseFlags(MANAGER_FLAGS, [arg])).toThrow(want);
  });

  test.each([
    ["--engine-max-cpu=lots", /^--engine-max-cpu=lots: not a Kubernetes quantity such as 32, 500m or 256Gi$/],
    ["--engine-max-memory=1Gb", /^--engine-max-memory=1Gb: /],
    ["--engine-max-ephemeral-storage=-", /^--engine-max-ephemeral-storage=-: /],
  ])("%s ends with 1", (arg, want) => {
    const flags = parseFlags(MANAGER_FLAGS, [arg]);
    expect(() => boundsOf(flags)).toThrow(SettingError);
    expect(() => boundsOf(flags)).toThrow(want);
  });

  test("--watch-label-selector=a( ends with 1", () => {
    const flags = parseFlags(MANAGER_FLAGS, ["--watch-label-selector=a("]);
    expect(() => selectorOf(flags)).toThrow(SettingError);
    expect(() => selectorOf(flags)).toThrow(/^--watch-label-selector=a\(: /);
  });
});

test("options from the flags of gateways", () => {
  const of = (...args: string[]) => renderingOf(parseFlags(MANAGER_FLAGS, args));
  expect(of()).toEqual({
    metadataConfigFormat: "xml",
    wakeMode: "annotation",
    componentSeccomp: "RuntimeDefault",
  });
  expect(
    of(
      "--wake-agent-image=i",
      "--wake-mode=demand",
      "--gateway-wake-cluster-role=r",
      "--component-seccomp=none",
      "--metadata-config-format=yaml",
    ),
  ).toEqual({
    metadataConfigFormat: "yaml",
    wakeMode: "demand",
    componentSeccomp: "none",
    wakeAgent: { image: "i", pullPolicy: "" },
    gatewayClusterRole: "r",
  });
});
