// FireboltInstance: metadata service, gateway and the settings that all engines of the instance share.

import { INSTANCE_DEFAULTS, MAX_REPLICAS, SCHEMA_DEFAULTS } from "../defaults.ts";
import { RESERVED_GATEWAY_PORTS, RESERVED_PORT_MESSAGE } from "../gateway-ports.ts";
import type { V1ObjectMeta } from "../generated/kubernetes.ts";
import { INSTANCE_NAMES } from "../group.ts";
import { rejectEnabling } from "../schema/availability.ts";
import { boolean, enumOf, int32, object, required, string } from "../schema/builders.ts";
import { AGE_COLUMN, type KindDefinition } from "../schema/kind-definition.ts";
import { podTemplate } from "../schema/pod-template.ts";
import type { Infer, InferWritten } from "../schema/schema.ts";
import { instanceAuth } from "./auth.ts";
import { instanceMetadata } from "./metadata.ts";
import { type InstanceStatus, instanceStatus } from "./status.ts";
import { instanceTls } from "./tls.ts";

export const METRIC_SCRAPE_MODES = ["PodIP", "ApiserverProxy"] as const;
export type MetricScrapeMode = (typeof METRIC_SCRAPE_MODES)[number];

const instanceGateway = object(
  {
    replicas: int32({
      description: `Number of gateway pods. Unset means ${INSTANCE_DEFAULTS.gatewayReplicas}.`,
      maximum: MAX_REPLICAS,
    }),
    metricsPort: int32({
      description: "Port of the gateway's Prometheus metrics.",
      default: SCHEMA_DEFAULTS.gateway.metricsPort,
      minimum: 1,
      maximum: 65_535,
      // On the field itself: stored objects with such a port stay valid until the port changes, so that they can be
      // deleted.
      rules: [{ rule: `!(self in [${RESERVED_GATEWAY_PORTS.join(", ")}])`, message: RESERVED_PORT_MESSAGE }],
    }),
    template: podTemplate(
      "Pod overrides of the gateway, as a fragment of a pod template. The container named envoy is the gateway itself.",
    ),
  },
  { description: "The gateway that clients connect to." },
);
export type InstanceGateway = Infer<typeof instanceGateway>;

export const instanceSpec = object(
  {
    id: string({
      description: "Account identifier. Made by the operator when unset; cannot be changed or removed once set.",
    }),
    metadataNG: boolean({
      description: "Switches to the next-generation metadata service. Not available yet.",
      default: false,
      rules: [rejectEnabling("spec.metadataNG", "the next-generation metadata service")],
    }),
    metadata: required(instanceMetadata),
    gateway: required(instanceGateway),
    auth: instanceAuth,
    tls: instanceTls,
    // No schema default: a stored default would fix the meaning of "unset" forever.
    metricScrapeMode: enumOf(METRIC_SCRAPE_MODES, {
      description: `How the metrics of engine pods are reached: directly or through the API server. Unset means ${INSTANCE_DEFAULTS.metricScrapeMode}.`,
    }),
  },
  {
    description: "What the instance should be.",
    rules: [
      {
        // On the parent, because a rule on the field itself does not run when the field is removed.
        rule: "!has(oldSelf.id) || oldSelf.id == '' || (has(self.id) && self.id == oldSelf.id)",
        message: "spec.id cannot be changed or removed once it is set",
        fieldPath: ".id",
      },
    ],
  },
);
export type InstanceSpec = Infer<typeof instanceSpec>;

/** As the API server returns it. */
export interface FireboltInstance {
  apiVersion?: string;
  kind?: string;
  metadata?: V1ObjectMeta;
  spec: InstanceSpec;
  status?: InstanceStatus;
}

/** In a manifest: fields with a default are optional. */
export interface FireboltInstanceManifest extends Omit<FireboltInstance, "spec" | "status"> {
  spec: InferWritten<typeof instanceSpec>;
}

/** The resource type: its address, carrying the type of its objects. */
export const FireboltInstance: typeof INSTANCE_NAMES & { readonly objectType?: FireboltInstance } = INSTANCE_NAMES;

export const instanceDefinition: KindDefinition = {
  names: INSTANCE_NAMES,
  description: "A FireboltInstance is a metadata service and a gateway, with the settings that its engines share.",
  spec: required(instanceSpec),
  status: instanceStatus,
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase", description: "Summary of the condition Ready" },
    {
      name: "Gateway",
      type: "boolean",
      jsonPath: ".status.gatewayReady",
      description: "Whether a gateway pod is ready",
    },
    {
      name: "Metadata",
      type: "boolean",
      jsonPath: ".status.metadataReady",
      description: "Whether a metadata pod is ready",
    },
    AGE_COLUMN,
  ],
};
