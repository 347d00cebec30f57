// From the manager's flags to the options of the operator. Reads the temporary folder and the environment; talks to no
// cluster.
import { tmpdir } from "node:os";
import type { ClusterConfig } from "@firebolt-operator/kube/client";
import { type ElectionTiming, validateElectionTiming } from "@firebolt-operator/kube/election";
import type { Registry } from "prom-client";
import { type CertificateMode, defaultCertificateFolder } from "../../admission/webhooks.ts";
import type { ElectionOptions, MetricsOptions, OperatorOptions, WebhookOptions } from "../../operator/options.ts";
import { operatorDefaultsOf } from "../flags/default-flags.ts";
import { UsageError } from "../flags/flag-table.ts";
import { renderingOf } from "../flags/instance-flags.ts";
import { concurrencyOf, listenAddress, type ManagerFlags, namespaceList } from "../flags/manager-flags.ts";
import { operatorIdentity } from "./operator-identity.ts";

export interface Surroundings {
  readonly config: ClusterConfig;
  /** Absent: no metrics. */
  readonly registry: Registry | undefined;
  readonly inCluster: boolean;
}

type FlagOptions = Omit<OperatorOptions, "config" | "logger" | "build" | "selector" | "bounds" | "overrides">;

export function operatorOptionsOf(flags: ManagerFlags, surroundings: Surroundings): FlagOptions {
  const { config, registry, inCluster } = surroundings;
  const namespace = ownNamespace(flags, config);
  const probes = listenAddress(flags["health-probe-bind-address"]);
  return {
    namespaces: namespaceList(flags.namespaces),
    defaults: operatorDefaultsOf(flags),
    rendering: renderingOf(flags),
    drainSettleMs: flags["drain-settle"],
    concurrency: concurrencyOf(flags),
    qps: flags["kube-api-qps"],
    burst: flags["kube-api-burst"],
    identity: operatorIdentity({ config, namespace, webhookSecret: flags["webhook-cert-secret"] }),
    shutdownTimeoutMs: flags["shutdown-timeout"],
    ...(flags["leader-elect"] ? { election: electionOf(flags, namespace) } : {}),
    ...(probes === undefined ? {} : { probes }),
    ...(registry === undefined ? {} : { metrics: metricsOf(flags, registry) }),
    ...(flags["enable-webhooks"] ? { webhooks: webhooksOf(flags, { namespace, inCluster }) } : {}),
  };
}

/** The operator's own namespace, where its lease and its certificates are. */
function ownNamespace(flags: ManagerFlags, config: ClusterConfig): string | undefined {
  return flags["leader-election-namespace"] || config.namespace;
}

function electionOf(flags: ManagerFlags, namespace: string | undefined): ElectionOptions {
  if (!namespace)
    throw new UsageError(
      "--leader-election-namespace is required out of cluster: neither a pod nor the kubeconfig context names a namespace",
    );
  return { namespace, name: flags["leader-election-id"], timing: electionTiming(flags) };
}

/** The problems with the election flags, each naming its flags. */
export function electionProblems(flags: ManagerFlags): readonly string[] {
  return flags["leader-elect"] ? validateElectionTiming(electionTiming(flags)) : [];
}

function electionTiming(flags: ManagerFlags): ElectionTiming {
  return {
    leaseMs: flags["leader-election-lease-duration"],
    renewDeadlineMs: flags["leader-election-renew-deadline"],
    retryMs: flags["leader-election-retry-period"],
  };
}

function metricsOf(flags: ManagerFlags, registry: Registry): MetricsOptions {
  const listen = listenAddress(flags["metrics-bind-address"]);
  const [folder, http2] = [flags["metrics-cert-path"], flags["enable-http2"]];
  const [certificateName, keyName] = [flags["metrics-cert-name"], flags["metrics-cert-key"]];
  const certificate = folder === "" ? {} : { certificate: { folder, certificateName, keyName } };
  return {
    registry,
    ...(listen === undefined ? {} : { listen }),
    ...(flags["metrics-secure"] ? { secure: { http2, ...certificate } } : {}),
  };
}

interface WebhookPlace {
  /** Where the Secret and the Service are. */
  readonly namespace: string | undefined;
  readonly inCluster: boolean;
}

function webhooksOf(flags: ManagerFlags, { namespace, inCluster }: WebhookPlace): WebhookOptions {
  const certificate = certificateOf(flags, namespace);
  return { port: flags["webhook-port"], http2: flags["enable-http2"], certificate, optional: !inCluster };
}

function certificateOf(flags: ManagerFlags, namespace: string | undefined): CertificateMode {
  if (flags["webhook-cert-mode"] === "files") {
    const folder = flags["webhook-cert-path"] || defaultCertificateFolder(tmpdir());
    const [certificateName, keyName] = [flags["webhook-cert-name"], flags["webhook-cert-key"]];
    return { type: "files", folder, certificateName, keyName };
  }
  const [secret, service] = [flags["webhook-cert-secret"], flags["webhook-service"]];
  if (secret === "" || service === "" || !namespace)
    throw new UsageError(
      "--webhook-cert-mode=self-managed needs --webhook-cert-secret, --webhook-service and, out of cluster, --leader-election-namespace",
    );
  const configuration = flags["webhook-configuration"];
  return {
    type: "self-managed",
    secret: { namespace, name: secret },
    service: { namespace, name: service },
    mutatingConfiguration: configuration,
    validatingConfiguration: configuration,
  };
}
