// The manager's flags, their defaults and their meaning in one table. Validated here, once, before anything starts.
import { parseLabelSelector } from "@firebolt-operator/kube";
import { parseResourceBounds, type ResourceBounds } from "../engine/validate.ts";
import { CONTROLLERS, type ControllerName, type ListenAddress } from "../operator/options.ts";
import { DEFAULT_FLAGS } from "./default-flags.ts";
import { bindAddress, namespaceNames, notNegative } from "./flag-checks.ts";
import { type FlagTable, type FlagValues, SettingError } from "./flags.ts";
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
  help: { type: "boolean", default: "false", help: "print this text and exit" },
  ...KUBECONFIG_FLAG,
  namespaces: {
    type: "string",
    default: "",
    help: "comma-separated namespaces to watch; empty watches all",
    check: namespaceNames,
  },
  "watch-label-selector": { type: "string", default: "", help: "label selector for the three Firebolt kinds" },
  "leader-elect": { type: "boolean", default: "false", help: "take a lease before running controllers" },
  "leader-election-namespace": {
    type: "string",
    default: "",
    help: "namespace of the lease; empty means the pod's own",
  },
  "leader-election-id": { type: "string", default: "c662f7f5.firebolt.io", help: "name of the lease" },
  "leader-election-lease-duration": { type: "duration", default: "15s", help: "how long a silent leader is trusted" },
  "leader-election-renew-deadline": {
    type: "duration",
    default: "10s",
    help: "a leader that cannot renew for this long ends",
  },
  "leader-election-retry-period": { type: "duration", default: "2s", help: "pause between attempts" },
  "health-probe-bind-address": {
    type: "string",
    default: ":8081",
    help: "/healthz and /readyz; 0 disables",
    check: bindAddress,
  },
  "metrics-bind-address": { type: "string", default: "0", help: "/metrics; 0 disables", check: bindAddress },
  "metrics-secure": {
    type: "boolean",
    default: "true",
    help: "serve metrics over HTTPS to authenticated scrapers only",
  },
  "metrics-cert-path": {
    type: "string",
    default: "",
    help: "folder with the metrics server's certificate; empty makes a self-signed one",
  },
  "metrics-cert-name": { type: "string", default: "tls.crt", help: "file name of that certificate" },
  "metrics-cert-key": { type: "string", default: "tls.key", help: "file name of its key" },
  "enable-http2": { type: "boolean", default: "false", help: "offer HTTP/2 on the metrics and webhook servers" },
  ...WEBHOOK_FLAGS,
  "max-concurrent-reconciles": {
    type: "string",
    default: "engine=8,instance=2,engineclass=2",
    help: "passes at the same time, per controller",
    check: concurrencyProblem,
  },
  "drain-settle": {
    type: "duration",
    default: "35s",
    help: "how long after the switch of a rollout or stop the old generation is kept before it may count as drained: longer than name servers cache",
    check: notNegative,
  },
  "engine-max-cpu": {
    type: "string",
    default: "",
    help: "largest cpu request or limit of an engine; empty means no bound",
  },
  "engine-max-memory": { type: "string", default: "", help: "largest memory request or limit of an engine" },
  "engine-max-ephemeral-storage": {
    type: "string",
    default: "",
    help: "largest ephemeral-storage request or limit of an engine",
  },
  ...DEFAULT_FLAGS,
  ...INSTANCE_FLAGS,
  "kube-api-qps": {
    type: "number",
    default: "0",
    help: "client-side requests per second; 0 means no limit",
    check: notNegative,
  },
  "kube-api-burst": {
    type: "integer",
    default: "0",
    help: "burst above the rate; 0 means no limit",
    check: notNegative,
  },
  "shutdown-timeout": { type: "duration", default: "8s", help: "budget of an orderly stop", check: notNegative },
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

/** The address as node's `listen` takes it, or undefined when the server is switched off. */
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

/** Throws for a bound that is no quantity, naming its flag: an operator with half its bounds must not start. */
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

/** The selector as it was given; throws for one that cannot be read. */
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
