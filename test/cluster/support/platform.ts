// The end-to-end platform as data: names, manifests, the operator's settings, and what the set-up of a run passes to
// the tests. It starts nothing and imports nothing of vitest: the set-up runs outside of it.
import type { KubeObject } from "@firebolt-operator/kube";
import { UNCACHED_NAMES, UNCACHED_SETTLE_SECONDS } from "../../../dev/deploy/values.ts";

/** What the set-up passes to the tests. */
export interface E2eContext {
  readonly kubeconfig: string;
  readonly nodeName: string;
  /** Of the cluster. */
  readonly folder: string;
  /** See node-control.ts. */
  readonly controlSocket: string;
  /** See figures.ts. */
  readonly figures: string;
  /** References of the local images by name. */
  readonly images: readonly NamedReference[];
  /** Another name of the same engine image: a change of image that is none. */
  readonly nextEngineImage: string;
}

export interface NamedReference {
  readonly name: string;
  readonly reference: string;
}

/** Pod Security "restricted" is enforced in it. */
export const NAMESPACE = "e2e";
export const INSTANCE = "main";
export const CLASS = "small";
/** The engine that is there from the beginning; scenarios make others of their own. */
export const ENGINE = "rolling";

/**
 * Three managers, of which one leads: the webhooks of the others admit edits while it is down. A lease of four seconds, because a
 * leader that is killed every ten would never follow one that lasts fifteen.
 */
export const OPERATOR_VALUES = {
  ...UNCACHED_NAMES,
  replicaCount: 3,
  additionalArgs: [
    "--leader-election-lease-duration=4s",
    "--leader-election-renew-deadline=3s",
    "--leader-election-retry-period=500ms",
  ],
};

/** Two managers, and the chart's own lease: a busy machine must not change leaders. */
export const FAULTS_OPERATOR_VALUES = { ...UNCACHED_NAMES, replicaCount: 2 };

/** How long a generation is kept after the switch, with these values. */
export const DRAIN_SETTLE_MS = 1_000 * UNCACHED_SETTLE_SECONDS;

/** Below it a host names its engine; nothing resolves it. */
export const HOST_DOMAIN = "fb.example.com";

const API_VERSION = "compute.firebolt.io/v1alpha1";

export const engineManifest = (name: string, spec: object): KubeObject =>
  manifest("FireboltEngine", name, {
    instanceRef: INSTANCE,
    engineClassRef: CLASS,
    drainCheckInterval: "1s",
    ...spec,
  });

export const instanceManifest = (name: string, spec: object): KubeObject =>
  manifest("FireboltInstance", name, { metadata: {}, gateway: {}, ...spec });

const CLASS_SPEC = {
  template: {
    spec: {
      containers: [
        { name: "engine", resources: { requests: { cpu: "20m", memory: "64Mi" }, limits: { memory: "1Gi" } } },
      ],
    },
  },
  customEngineConfig: { storage: { managed_table_storage: "s3", managed_table_bucket_name: "e2e-tables" } },
};

/** An instance with its gateway of two pods, a class and one engine. */
export const platformManifests = (): readonly KubeObject[] => [
  instanceManifest(INSTANCE, { gateway: { hostDomains: [HOST_DOMAIN], defaultEngine: ENGINE } }),
  manifest("FireboltEngineClass", CLASS, CLASS_SPEC),
  engineManifest(ENGINE, { replicas: 1 }),
];

const manifest = (kind: string, name: string, spec: object): KubeObject & { readonly spec: object } => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { name, namespace: NAMESPACE },
  spec,
});
