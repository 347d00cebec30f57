// The two objects that register the webhooks with the API server, as data. The chart and tests write them.
import { SERVICE_ACCOUNT_PREFIX } from "../validators/gateway-account.ts";
import { type FailurePolicy, HOOKS, type Hook } from "./hooks.ts";
import { type MatchCondition, notTheOperator } from "./match-conditions.ts";

/** How the API server reaches the server: a Service of the cluster, or an address. */
export type WebhookTarget =
  | { readonly type: "service"; readonly namespace: string; readonly name: string; readonly port: number }
  | { readonly type: "url"; readonly base: string };

export interface WebhookConfigurationOptions {
  readonly mutatingName: string;
  readonly validatingName: string;
  readonly target: WebhookTarget;
  /** The operator's service account, whose own writes need no webhook. Absent: they are validated like those of users. */
  readonly operatorAccount?: { readonly namespace: string; readonly name: string };
  /** PEM. Absent: it is filled in elsewhere. */
  readonly caBundle?: string;
  readonly failurePolicy?: Partial<Record<Hook["type"], FailurePolicy>>;
  readonly timeoutSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface WebhookConfigurations {
  readonly mutating: object;
  readonly validating: object;
}

/** The server itself gives up after eight seconds, so that its response names the reason. */
const TIMEOUT_SECONDS = 10;

export function renderWebhookConfigurations(options: WebhookConfigurationOptions): WebhookConfigurations {
  return {
    mutating: renderConfiguration("mutating", options.mutatingName, options),
    validating: renderConfiguration("validating", options.validatingName, options),
  };
}

function renderConfiguration(type: Hook["type"], name: string, options: WebhookConfigurationOptions): object {
  const { labels, annotations } = options;
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: type === "mutating" ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration",
    metadata: {
      name,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    webhooks: HOOKS.filter((hook) => hook.type === type).map((hook) => renderWebhook(hook, options)),
  };
}

function renderWebhook(hook: Hook, options: WebhookConfigurationOptions): object {
  const { group, version, plural } = hook.kind;
  const matchConditions = matchConditionsOf(hook, options);
  return {
    name: hook.name,
    clientConfig: renderClientConfig(hook.path, options),
    rules: [
      {
        apiGroups: [group],
        apiVersions: [version],
        operations: [...hook.operations],
        // The objects themselves, not their status.
        resources: [plural],
        scope: "Namespaced",
      },
    ],
    failurePolicy: options.failurePolicy?.[hook.type] ?? hook.failurePolicy,
    matchPolicy: "Equivalent",
    sideEffects: "None",
    timeoutSeconds: options.timeoutSeconds ?? TIMEOUT_SECONDS,
    admissionReviewVersions: ["v1"],
    ...(matchConditions.length === 0 ? {} : { matchConditions }),
    // Another mutating webhook may have changed the spec since; the id is set only once.
    ...(hook.type === "mutating" ? { reinvocationPolicy: "Never" } : {}),
  };
}

function matchConditionsOf(
  { matchConditions, operatorField: field }: Hook,
  { operatorAccount }: WebhookConfigurationOptions,
): readonly MatchCondition[] {
  if (operatorAccount === undefined || field === undefined) return matchConditions;
  const username = `${SERVICE_ACCOUNT_PREFIX}${operatorAccount.namespace}:${operatorAccount.name}`;
  return [...matchConditions, notTheOperator({ username, field })];
}

function renderClientConfig(path: string, { target, caBundle }: WebhookConfigurationOptions): object {
  const bundle = caBundle === undefined ? {} : { caBundle: Buffer.from(caBundle, "utf8").toString("base64") };
  if (target.type === "url") return { url: `${target.base}${path}`, ...bundle };
  const { namespace, name, port } = target;
  return { service: { namespace, name, port, path }, ...bundle };
}

/** The names under which the API server reaches a Service: the serving certificate must be valid for them. */
export function serviceHosts(namespace: string, name: string): readonly string[] {
  return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`, `${name}.${namespace}`, name];
}
