// The internal PostgreSQL: a StatefulSet of one pod with a claim, and the headless Service by which metadata finds it. Users
// have no say in it; whoever wants more brings an external database.
import type { V1PodTemplateSpec } from "../../api/generated/kubernetes.ts";
import { defaultPullPolicy } from "../../podtemplate/image-reference.ts";
import type { Rendered } from "../children.ts";
import {
  componentLabels,
  credentialsSecretName,
  type InstanceIdentity,
  POSTGRES_PORT,
  postgresName,
} from "../names.ts";
import { POSTGRES_USER } from "./credentials-secret.ts";
import { hardened, RUNTIME_DEFAULT } from "./hardening.ts";
import { objectMetadata } from "./object-metadata.ts";

const PORT_NAME = "tcp-postgresql";
/** The user of the image's own entry point. */
const POSTGRES_UID = 70;
const DATA_PATH = "/var/lib/postgresql/data";

/**
 * An hour for the first start and for recovery after a crash. A liveness probe that ends either begins it again for ever, and an
 * initdb that is killed leaves a folder which the entry point takes for a database. By TCP: the server that the entry point runs
 * during initialisation listens on its socket alone, and must not count as started.
 */
const STARTUP_PROBE = {
  exec: { command: ["pg_isready", "-h", "127.0.0.1", "-U", POSTGRES_USER] },
  periodSeconds: 2,
  timeoutSeconds: 5,
  failureThreshold: 1_800,
};

export function renderPostgresStatefulSet(instance: InstanceIdentity, image: string): Rendered<"StatefulSet"> {
  const labels = componentLabels(instance.name, "postgres");
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: objectMetadata(instance, "postgres", postgresName(instance.name)),
    spec: {
      replicas: 1,
      serviceName: postgresName(instance.name),
      selector: { matchLabels: labels },
      template: renderPod(instance, image),
      // Labelled, because only the labels lead the finalizer to the claims.
      volumeClaimTemplates: [
        {
          metadata: { name: "data", labels },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } } },
        },
      ],
    },
  };
}

function renderPod(instance: InstanceIdentity, image: string): V1PodTemplateSpec {
  const secret = credentialsSecretName(instance.name);
  const fromSecret = (name: string, key: string) => ({ name, valueFrom: { secretKeyRef: { name: secret, key } } });
  return {
    metadata: { labels: componentLabels(instance.name, "postgres") },
    spec: {
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
            // A folder below the mount point: that one belongs to root, and its mode could not be changed.
            { name: "PGDATA", value: `${DATA_PATH}/pgdata` },
          ],
          resources: { requests: { cpu: "25m", memory: "64Mi" }, limits: { cpu: "250m", memory: "256Mi" } },
          securityContext: hardened(POSTGRES_UID),
          startupProbe: STARTUP_PROBE,
          readinessProbe: { tcpSocket: { port: POSTGRES_PORT }, initialDelaySeconds: 1, periodSeconds: 5 },
          livenessProbe: {
            exec: { command: ["pg_isready", "-U", POSTGRES_USER] },
            initialDelaySeconds: 5,
            periodSeconds: 10,
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
    },
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
