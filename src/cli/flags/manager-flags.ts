// The manager's flags, their defaults and their help in one table. Validated here, before anything starts.
import { parseLabelSelector } from "@firebolt-operator/kube";
import { parseResourceBounds, type ResourceBounds } from "../../engine/model/validate.ts";
import { CONTROLLERS, type ControllerName, type ListenAddress } from "../../operator/options.ts";
import { DEFAULT_FLAGS } from "./default-flags.ts";
import { bindAddress, namespaceNames, notNegative } from "./flag-checks.ts";
import { type FlagTable, type FlagValues, SettingError } from "./flag-table.ts";
import { INSTANCE_FLAGS } from "./instance-flags.ts";
import { KUBECONFIG_FLAG, LOGGING_FLAGS } from "./shared-flags.ts";
import { WEBHOOK_FLAGS } from "./webhook-flags.ts";

type Concurrency = Readonly<Record<ControllerName, number>>;

function concurrencyProblem(text: string): string | undefined {
  const bad = text.split(",").find((part) => !/^(engine|instance|engineclass)=[1-9]\d{0,2}$/.test(part.trim()));
  return bad === undefined
    ? undefined
    : `${JSON.stringify(bad)} must be NAME=N with NAME one of ${CONTROLLERS.join(", ")} and N from 1 to 999`;
}

export const MANAGER_FLAGS = {
  version: { type: "boolean", default: "false", help: "print the version and exit" },
  help: { type: "boolean", default: "false", help: "print this help and exit" },
  ...KUBECONFIG_FLAG,
  namespaces: {
    type: "string",
    default: "",
    help: "comma-separated namespaces to watch; empty: all",
    check: namespaceNames,
  },
  "watch-label-selector": {
    type: "string",
    default: "",
    help: "label selector for FireboltInstances, FireboltEngines and FireboltEngineClasses; empty: all",
  },
  "leader-elect": { type: "boolean", default: "false", help: "acquire a lease before the controllers start" },
  "leader-election-namespace": {
    type: "string",
    default: "",
    help: "namespace of the lease; empty: the namespace of the pod or kubeconfig context",
  },
  "leader-election-id": { type: "string", default: "c662f7f5.firebolt.io", help: "name of the lease" },
  "leader-election-lease-duration": {
    type: "duration",
    default: "15s",
    help: "how long a standby waits for a leader that does not renew its lease",
  },
  "leader-election-renew-deadline": {
    type: "duration",
    default: "10s",
    help: "a leader that cannot renew its lease for this long exits",
  },
  "leader-election-retry-period": {
    type: "duration",
    default: "2s",
    help: "interval between attempts to acquire or renew the lease",
  },
  "health-probe-bind-address": {
    type: "string",
    default: ":8081",
    help: "address of /healthz and /readyz; 0: disabled",
    check: bindAddress,
  },
  "metrics-bind-address": {
    type: "string",
    default: "0",
    help: "address of /metrics; 0: disabled",
    check: bindAddress,
  },
  "metrics-secure": {
    type: "boolean",
    default: "true",
    help: "serve metrics over HTTPS to authenticated and authorized scrapers only",
  },
  "metrics-cert-path": {
    type: "string",
    default: "",
    help: "folder of the metrics server's certificate; empty: self-signed",
  },
  "metrics-cert-name": { type: "string", default: "tls.crt", help: "file name of the metrics certificate" },
  "metrics-cert-key": { type: "string", default: "tls.key", help: "file name of the key of the metrics certificate" },
  "enable-http2": { type: "boolean", default: "false", help: "offer HTTP/2 on the metrics and webhook servers" },
  ...WEBHOOK_FLAGS,
  "max-concurrent-reconciles": {
    type: "string",
    default: "engine=8,instance=2,engineclass=2",
    help: "concurrent reconciles per controller",
    check: concurrencyProblem,
  },
  "drain-settle": {
    type: "duration",
    default: "35s",
    help: "time after switching the Service during which the old generation is kept, for clients with a cached address; longer than DNS caching. 5s if every gateway of the namespace reports that it has switched",
    check: notNegative,
  },
  "engine-max-cpu": {
    type: "string",
    default: "",
    help: "largest cpu request or limit of an engine; empty: no bound",
  },
  "engine-max-memory": {
    type: "string",
    default: "",
    help: "largest memory request or limit of an engine; empty: no bound",
  },
  "engine-max-ephemeral-storage": {
    type: "string",
    default: "",
    help: "largest ephemeral-storage request or limit of an engine; empty: no bound",
  },
  ...DEFAULT_FLAGS,
  ...INSTANCE_FLAGS,
  "kube-api-qps": {
    type: "number",
    default: "0",
    help: "requests per second to the API server; 0: no limit",
    check: notNegative,
  },
  "kube-api-burst": {
    type: "integer",
    default: "0",
    help: "requests above --kube-api-qps in a burst; 0: no limit",
    check: notNegative,
  },
  "shutdown-timeout": {
    type: "duration",
    default: "8s",
    help: "time for a clean shutdown; then the process exits",
    check: notNegative,
  },
  ...LOGGING_FLAGS,
} as const satisfies FlagTable;

export type ManagerFlags = FlagValues<typeof MANAGER_FLAGS>;

/** `a, b,,c` → `["a", "b", "c"]`. */
export function namespaceList(text: string): readonly string[] {
  return [
    ...new Set(
      text
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== ""),
    ),
  ];
}

/** The address as node's `listen` takes it, or undefined when the server is disabled. */
export function listenAddress(text: string): ListenAddress | undefined {
  if (text === "0") return undefined;
  const colon = text.lastIndexOf(":");
  const host = text.slice(0, colon).replace(/^\[|\]$/g, "");
  const port = Number(text.slice(colon + 1));
  return host === "" ? { port } : { host, port };
}

/** `engine=8` leaves the others at their defaults. */
export function concurrencyOf(flags: ManagerFlags): Concurrency {
  const pairs = (text: string) => text.split(",").map((part) => part.trim().split("="));
  const merged = Object.fromEntries([
    ...pairs(MANAGER_FLAGS["max-concurrent-reconciles"].default),
    ...pairs(flags["max-concurrent-reconciles"]),
  ]) as Record<keyof Concurrency, string>;
  return { engine: Number(merged.engine), instance: Number(merged.instance), engineclass: Number(merged.engineclass) };
}

/** Throws for a bound that is not a quantity, naming its flag: an operator with half its bounds must not start. */
export function boundsOf(flags: ManagerFlags): ResourceBounds {
  const { bounds, malformed } = parseResourceBounds({
    cpu: flags["engine-max-cpu"],
    memory: flags["engine-max-memory"],
    "ephemeral-storage": flags["engine-max-ephemeral-storage"],
  });
  if (malformed.length === 0) return bounds;
  const given = malformed.map((name) => `--engine-max-${name}=${flags[`engine-max-${name}`]}`);
  throw new SettingError(`${given.join(", ")}: not a Kubernetes quantity such as 32, 500m or 256Gi`);
}

/** The selector as given; throws when it cannot be parsed. */
export function selectorOf(flags: ManagerFlags): string {
  const selector = flags["watch-label-selector"];
  try {
    if (selector !== "") parseLabelSelector(selector);
  } catch (error) {
    throw new SettingError(
      `--watch-label-selector=${selector}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
  return selector;
}
