// The internal PostgreSQL: a StatefulSet of one pod with a claim, and the headless Service by which metadata connects.
// Users can set its resources and its volume; for anything else they use an external database.

import { BUILT_IN_POSTGRES } from "../../api/defaults.ts";
import type { BuiltInPostgres } from "../../api/firebolt-instance/postgres.ts";
import type {
  V1LocalObjectReference,
  V1PodTemplateSpec,
  V1ResourceRequirements,
} from "../../api/generated/kubernetes.ts";
import { ANNOTATION } from "../../api/labels.ts";
import { copyOf, type DeepReadonly } from "../../api/values/deep-readonly.ts";
import { formatQuantity, parseQuantity, roundedToMilli } from "../../api/values/quantity.ts";
import { defaultPullPolicy } from "../../podtemplate/image-reference.ts";
import { nonEmpty, nonEmptyMap, present } from "../../podtemplate/present.ts";
import type { LiveObject, Rendered } from "../model/children.ts";
import type { PostgresGuard } from "../model/decision.ts";
import {
  componentLabels,
  credentialsSecretName,
  type InstanceIdentity,
  POSTGRES_PORT,
  postgresName,
} from "../model/names.ts";
import { POSTGRES_USER } from "./credentials-secret.ts";
import { hardened, RUNTIME_DEFAULT } from "./hardening.ts";
import { objectMetadata } from "./object-metadata.ts";

const PORT_NAME = "tcp-postgresql";
/** The user of the image's own entry point. */
const POSTGRES_UID = 70;
const DATA_PATH = "/var/lib/postgresql/data";

/**
 * An hour for the first start and for recovery after a crash, in steps of a second, because metadata waits for it. A
 * liveness probe that interrupts either would restart it forever, and an initdb that is killed leaves a directory which
 * the entry point takes for a database. By TCP: the server that the entry point runs during initialisation listens on
 * its socket alone, and must not count as started.
 */
const STARTUP_PROBE = {
  exec: { command: ["pg_isready", "-h", "127.0.0.1", "-U", POSTGRES_USER] },
  periodSeconds: 1,
  timeoutSeconds: 5,
  failureThreshold: 3_600,
};

/** No scheduler has this name: a pod that is created while the fence is set never runs. */
const NO_SCHEDULER = "firebolt.io/no-empty-catalogue";

export interface PostgresInput {
  readonly identity: InstanceIdentity;
  readonly image: string;
  readonly settings: DeepReadonly<BuiltInPostgres> | undefined;
  /** Default running. Fenced: the running pod continues, and no later one starts. Stopped: no pod. */
  readonly run?: "running" | "fenced" | "stopped" | undefined;
  /** Unless it runs: the uid of the claim with the catalogue, which survives an emptied status. */
  readonly lostClaim?: string | undefined;
  /** Of the existing StatefulSet: claim templates are immutable. */
  readonly claimTemplate?: (ClaimTemplate & { readonly wish: string | undefined }) | undefined;
}

export interface ClaimTemplate {
  readonly size: string | number;
  readonly storageClassName: string | undefined;
}

/** The volume of a new claim. */
export function wantedVolume(settings: PostgresInput["settings"]): ClaimTemplate {
  const { size = BUILT_IN_POSTGRES.size, storageClassName } = settings?.storage ?? {};
  return { size, storageClassName };
}

/** The fields that prevent a StatefulSet of any template from starting a database, as a merge patch. */
export function renderPostgresGuard({ run, lostClaim }: PostgresGuard): {
  readonly metadata?: object;
  readonly spec: object;
} {
  return {
    ...(lostClaim === undefined ? {} : { metadata: { annotations: { [ANNOTATION.lostClaim]: lostClaim } } }),
    spec:
      run === "stopped"
        ? { replicas: 0 }
        : {
            template: { spec: { schedulerName: NO_SCHEDULER } },
            updateStrategy: { type: "OnDelete", rollingUpdate: null },
          },
  };
}

/** Whether the guard is already set, whatever else the StatefulSet contains. */
export function hasPostgresGuard(statefulSet: LiveObject, run: PostgresGuard["run"]): boolean {
  if (!("spec" in statefulSet) || statefulSet.spec === undefined || !("template" in statefulSet.spec)) return false;
  const { replicas, template } = statefulSet.spec;
  return run === "stopped" ? replicas === 0 : template?.spec?.schedulerName === NO_SCHEDULER;
}

/**
 * The volume in the spec itself: an admission policy may change the template, and a default may change.
 */
export function volumeWish(settings: PostgresInput["settings"]): string {
  const { size, storageClassName } = settings?.storage ?? {};
  const amount = size === undefined ? undefined : parseQuantity(size);
  return JSON.stringify({
    size: amount === undefined ? size : formatQuantity(roundedToMilli(amount)),
    storageClassName,
  });
}

export function renderPostgresStatefulSet(input: PostgresInput): Rendered<"StatefulSet"> {
  const { identity, settings, run = "running" } = input;
  const labels = componentLabels(identity.name, "postgres");
  const { size, storageClassName } = input.claimTemplate ?? wantedVolume(settings);
  const wish = input.claimTemplate === undefined ? volumeWish(settings) : input.claimTemplate.wish;
  const annotations = {
    ...(input.lostClaim === undefined ? {} : { [ANNOTATION.lostClaim]: input.lostClaim }),
    ...(wish === undefined ? {} : { [ANNOTATION.volumeWish]: wish }),
  };
  const pod = renderPod(input);
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: {
      ...objectMetadata(identity, "postgres", postgresName(identity.name)),
      ...present({ annotations: nonEmptyMap<string>(annotations) }),
    },
    spec: {
      replicas: run === "stopped" ? 0 : 1,
      serviceName: postgresName(identity.name),
      selector: { matchLabels: labels },
      template: run === "fenced" ? { ...pod, spec: { ...pod.spec, schedulerName: NO_SCHEDULER } } : pod,
      ...(run === "fenced" ? { updateStrategy: { type: "OnDelete" } } : {}),
      // Labelled: only by the labels the deletion finds the claims.
      volumeClaimTemplates: [
        {
          metadata: { name: "data", labels },
          spec: present({
            accessModes: ["ReadWriteOnce"],
            resources: { requests: { storage: size } },
            storageClassName,
          }),
        },
      ],
    },
  };
}

function renderPod({ identity: instance, image, settings }: PostgresInput): V1PodTemplateSpec & { spec: object } {
  const pullSecrets = copyOf<V1LocalObjectReference[]>(settings?.imagePullSecrets ?? []);
  const secret = credentialsSecretName(instance.name);
  const fromSecret = (name: string, key: string) => ({ name, valueFrom: { secretKeyRef: { name: secret, key } } });
  return {
    metadata: { labels: componentLabels(instance.name, "postgres") },
    spec: present({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: POSTGRES_UID,
        runAsGroup: POSTGRES_UID,
        fsGroup: POSTGRES_UID,
        seccompProfile: RUNTIME_DEFAULT,
      },
      containers: [
        {
          name: "postgresql",
          image,
          imagePullPolicy: defaultPullPolicy(image),
          ports: [{ name: PORT_NAME, containerPort: POSTGRES_PORT, protocol: "TCP" }],
          env: [
            fromSecret("POSTGRES_USER", "username"),
            fromSecret("POSTGRES_PASSWORD", "password"),
            fromSecret("POSTGRES_DB", "database"),
            // A directory below the mount point, which belongs to root and whose mode could not be changed.
            { name: "PGDATA", value: `${DATA_PATH}/pgdata` },
          ],
          resources: copyOf<V1ResourceRequirements>(settings?.resources ?? BUILT_IN_POSTGRES.resources),
          securityContext: hardened(POSTGRES_UID),
          startupProbe: STARTUP_PROBE,
          // The first one follows the startup probe at once: a delay would make it wait for the next period.
          readinessProbe: { tcpSocket: { port: POSTGRES_PORT }, periodSeconds: 5 },
          // A busy node needs more than the default second to start the command, and a healthy database must not be
          // restarted for that.
          livenessProbe: {
            exec: { command: ["pg_isready", "-U", POSTGRES_USER] },
            initialDelaySeconds: 5,
            periodSeconds: 10,
            timeoutSeconds: 5,
          },
          volumeMounts: [
            { name: "data", mountPath: DATA_PATH },
            { name: "run-postgresql", mountPath: "/var/run/postgresql" },
            { name: "tmp", mountPath: "/tmp" },
          ],
        },
      ],
      volumes: [
        { name: "run-postgresql", emptyDir: {} },
        { name: "tmp", emptyDir: {} },
      ],
      imagePullSecrets: nonEmpty(pullSecrets),
    }),
  };
}

export function renderPostgresService(instance: InstanceIdentity): Rendered<"Service"> {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: objectMetadata(instance, "postgres", postgresName(instance.name)),
    spec: {
      clusterIP: "None",
      selector: componentLabels(instance.name, "postgres"),
      ports: [{ name: PORT_NAME, port: POSTGRES_PORT, targetPort: POSTGRES_PORT, protocol: "TCP" }],
    },
  };
}
