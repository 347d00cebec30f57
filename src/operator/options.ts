// What an operator is assembled from. Plain values: flags and environment are read by src/cli, fixtures by tests.
import type { Clock, Logger } from "@firebolt-operator/kube";
import type { ClusterConfig, KubeClient, RequestInfo } from "@firebolt-operator/kube/client";
import type { ElectionTiming } from "@firebolt-operator/kube/election";
import type { EventSink } from "@firebolt-operator/kube/events";
import type { RuntimeMetrics } from "@firebolt-operator/kube/metrics";
import type { Registry } from "prom-client";
import type { CertificateMode } from "../admission/webhooks.ts";
import type { OperatorDefaults, OperatorIdentity } from "../api/operator-defaults.ts";
import type { ResourceBounds } from "../engine/model/validate.ts";
import type { RenderSettings } from "../instance/render/instance-objects.ts";
import type { Build } from "../metrics/process-series.ts";
import type { ProductMetrics } from "../metrics/product-metrics.ts";

export const CONTROLLERS = ["engine", "instance", "engineclass"] as const;
export type ControllerName = (typeof CONTROLLERS)[number];

/** What the instance controller renders with, besides images. */
export type Rendering = Omit<RenderSettings, "images">;

export interface ListenAddress {
  /** Absent: all addresses. */
  readonly host?: string;
  readonly port: number;
}

export interface ElectionOptions {
  readonly namespace: string;
  /** Name of the Lease. */
  readonly name: string;
  readonly timing: ElectionTiming;
  /** Default `<hostname>_<uuid>`. */
  readonly identity?: string;
}

/** HTTPS for scrapers that the API server authorizes. */
export interface SecureMetrics {
  readonly http2: boolean;
  /** Absent: a self-signed certificate. */
  readonly certificate?: {
    readonly folder: string;
    readonly certificateName: string;
    readonly keyName: string;
  };
}

export interface MetricsOptions {
  readonly registry: Registry;
  /** Absent: the series are recorded and no server is started. */
  readonly listen?: ListenAddress;
  /** Absent: plain HTTP. */
  readonly secure?: SecureMetrics;
}

export interface WebhookOptions {
  readonly port: number;
  readonly http2: boolean;
  readonly certificate: CertificateMode;
  /** Start without webhooks when the folder of the certificate does not exist, instead of waiting for it. */
  readonly optional: boolean;
}

export interface OperatorOptions {
  readonly config: ClusterConfig;
  readonly logger: Logger;
  readonly build: Build;
  /** Empty: all. */
  readonly namespaces: readonly string[];
  /** Label selector for the three Firebolt kinds; their children are not narrowed. Empty: all. */
  readonly selector: string;
  readonly defaults: OperatorDefaults;
  readonly rendering: Rendering;
  readonly bounds: ResourceBounds;
  /** How long after a switch a drain probe counts. */
  readonly drainSettleMs: number;
  /** Reconciles at the same time, per controller. Absent: the controller's own default. */
  readonly concurrency?: Partial<Readonly<Record<ControllerName, number>>>;
  /** Client-side rate limit of the controllers; 0 or absent: none. */
  readonly qps?: number;
  readonly burst?: number;
  /** The operator's own namespace, account and Secrets; undefined where they are unknown. */
  readonly identity?: OperatorIdentity | undefined;
  /** Absent: the process reconciles without a lease. */
  readonly election?: ElectionOptions;
  /** Absent: no /healthz and no /readyz. */
  readonly probes?: ListenAddress;
  readonly metrics?: MetricsOptions;
  /** Absent: no admission webhooks. */
  readonly webhooks?: WebhookOptions;
  readonly shutdownTimeoutMs?: number;
  readonly overrides?: OperatorOverrides;
}

/** What a client is used for: `reconcile`, `cache` and `event` share the connections of `work`. */
export type ClientUse = "work" | "reconcile" | "serving" | "query-probes" | "wake-demand" | "leader-election";

/** Parts that a test or a benchmark replaces or observes. The program sets none of them. */
export interface OperatorOverrides {
  /** Controllers to run. Default: all. */
  readonly controllers?: readonly ControllerName[];
  /** Clock of the reconcilers and their queues. */
  readonly clock?: Clock;
  /** Wraps a client for one use. `work` is wrapped first, and what `reconcile` wraps is the result. */
  readonly wrapClient?: (client: KubeClient, use: ClientUse) => KubeClient;
  /** Called for every request, watches included. */
  readonly onRequest?: (info: RequestInfo, use: ClientUse) => void;
  /** Called before every write of the controllers, in place of the check of the lease. */
  readonly guardWrite?: () => void;
  /** Receives the events in place of the recorder. */
  readonly events?: EventSink;
  readonly runtimeMetrics?: RuntimeMetrics;
  readonly productMetrics?: Partial<ProductMetrics>;
  /** Freezes cached objects, so that a write to one throws. */
  readonly freezeCaches?: boolean;
}
