// Random pod templates that the API server accepts. Optional fields come absent, empty, equal to the server's default or set, because
// telling these apart is what comparing with a stored object gets wrong.
import fc, { type Arbitrary } from "fast-check";
import type {
  V1Container,
  V1EnvVar,
  V1Lifecycle,
  V1Probe,
  V1ResourceRequirements,
  V1SecurityContext,
  V1Volume,
} from "../../src/api/generated/kubernetes.ts";
import type { PodTemplateFragment } from "../../src/api/pod-template.ts";
import { EVERY_VOLUME } from "./maximal-template.ts";

const name = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/);
const text = fc.constantFrom("", "v", "$(X)", "äöü", "no", "1e3");
const flag = fc.boolean();
const some = <T>(...values: readonly T[]) => fc.constantFrom(...values);

/** Some of the optional fields, all of the required ones. */
function fields<T extends object, K extends keyof T = never>(
  arbitraries: { [P in keyof T]: Arbitrary<T[P]> },
  required: K[] = [],
) {
  return fc.record(arbitraries, { requiredKeys: required });
}

const quantity = fc.oneof(
  some(
    "1",
    "0",
    "1.5",
    "0.1",
    "100m",
    "1n",
    "0.0001",
    "1e3",
    "1E2",
    "12e-2",
    "1k",
    "1Ki",
    "1024Mi",
    "1Gi",
    "0.5Gi",
    "3000Mi",
    "2",
  ),
  fc.nat(1_000_000).map(String),
  fc.tuple(fc.nat(5000), some("m", "u", "k", "M", "Ki", "Mi", "Gi")).map(([count, suffix]) => `${count}${suffix}`),
  fc
    .tuple(fc.nat(99), fc.nat(99_999), some("", "Ki", "Mi", "Gi", "k", "m"))
    .map(([a, b, suffix]) => `${a}.${b}${suffix}`),
);
const resources: Arbitrary<V1ResourceRequirements> = fields({
  // Only limits or only requests of one resource: a request must not exceed its limit.
  limits: fc.dictionary(some("cpu", "ephemeral-storage"), quantity, { maxKeys: 2 }),
  requests: fc.dictionary(fc.constant("memory"), quantity, { maxKeys: 1 }),
  claims: some<NonNullable<V1ResourceRequirements["claims"]>>([]),
});

const image = fc.oneof(
  some(
    "a",
    "a:latest",
    "a:v1",
    "host:5000/a",
    "host:5000/a:latest",
    "Bad:latest",
    "a/b_c@sha256:00",
    "localhost/x",
    "a:b:c",
  ),
  some("r.example/p/i", "UPPER/x", "x@sha256:".concat("0".repeat(64)), "x:latest@sha256:".concat("0".repeat(64))),
);

const port = some<number | string>(80, 8080, "http");
const httpGet = fields(
  { port, path: some("", "/", "/x"), scheme: some("HTTP", "HTTPS"), host: text.filter((t) => t === "") },
  ["port"],
);
const handler = fc.oneof(
  fc.record({ exec: fields({ command: some(["a"], ["a", ""]) }, ["command"]) }),
  fc.record({ httpGet }),
  fc.record({ tcpSocket: fields({ port, host: some("", "h") }, ["port"]) }),
);
const timing = fields({
  initialDelaySeconds: some(0, 5),
  timeoutSeconds: some(0, 1, 4),
  periodSeconds: some(0, 10, 20),
  failureThreshold: some(0, 3, 4),
  successThreshold: some(0, 1),
});
const grpc = fields({ port: fc.constant(9), service: some("", "s") }, ["port"]);
const probe: Arbitrary<V1Probe> = fc
  .tuple(fc.oneof(handler, fc.record({ grpc })), timing)
  .map(([how, when]) => ({ ...how, ...when }));
const lifecycle: Arbitrary<V1Lifecycle> = fields({
  postStart: handler,
  preStop: fc.oneof(handler, fc.record({ sleep: fc.record({ seconds: some(1, 5) }) })),
});

const keyRef = fields({ name: fc.constant("c"), key: fc.constant("k"), optional: flag }, ["name", "key"]);
const variable: Arbitrary<V1EnvVar> = fc
  .tuple(
    fc.stringMatching(/^[A-Z]{1,6}$/),
    fc.oneof(
      fields({ value: text }),
      fc.record({
        valueFrom: fc.oneof(
          fc.record({
            fieldRef: fields({ fieldPath: some("metadata.name", "status.podIP"), apiVersion: some("v1", "") }, [
              "fieldPath",
            ]),
          }),
          fc.record({
            resourceFieldRef: fields(
              { resource: fc.constant("limits.memory"), divisor: some("0", "1", "1Mi", "1024Ki") },
              ["resource"],
            ),
          }),
          fc.record({ configMapKeyRef: keyRef }),
          fc.record({ secretKeyRef: keyRef }),
        ),
      }),
    ),
  )
  .map(([variableName, source]) => ({ name: variableName, ...source }));
const env = fc.uniqueArray(variable, { maxLength: 4, selector: (entry) => entry.name });
const sourceRef = fields({ name: fc.constant("c"), optional: flag }, ["name"]);
const envFrom = fc.array(
  fc.oneof(
    fields({ configMapRef: sourceRef, prefix: some("", "P_") }, ["configMapRef"]),
    fc.record({ secretRef: sourceRef }),
  ),
  { maxLength: 2 },
);

const securityContext: Arbitrary<V1SecurityContext> = fields({
  runAsUser: some(0, 1),
  runAsNonRoot: flag,
  readOnlyRootFilesystem: flag,
  allowPrivilegeEscalation: flag,
  capabilities: fields({ add: some<string[]>([], ["NET_ADMIN"]), drop: some<string[]>([], ["ALL"]) }),
  seccompProfile: fc.record({ type: some("RuntimeDefault", "Unconfined") }),
});

const shared = {
  env,
  envFrom,
  resources,
  lifecycle,
  securityContext,
  workingDir: some("", "/w"),
  terminationMessagePath: some("", "/dev/termination-log", "/x"),
  terminationMessagePolicy: some("File", "FallbackToLogsOnError"),
  imagePullPolicy: some("", "Always", "Never", "IfNotPresent"),
};
const engineContainer: Arbitrary<V1Container> = fields({ name: fc.constant("engine"), image, ...shared }, ["name"]);
const sidecar = (prefix: string): Arbitrary<V1Container> =>
  fields(
    {
      ...shared,
      name: name.map((rest) => `${prefix}-${rest}`),
      image,
      command: some<string[]>([], ["x"]),
      args: some<string[]>([], ["x", ""]),
      ports: some<NonNullable<V1Container["ports"]>>(
        [],
        [{ containerPort: 80 }],
        [{ containerPort: 1, hostPort: 0, protocol: "UDP" }],
      ),
      livenessProbe: probe,
      readinessProbe: probe,
      startupProbe: probe,
      stdin: flag,
      tty: flag,
    },
    ["name", "image"],
  );

const mode = fields({ defaultMode: some(0, 0o400, 0o644), optional: flag });
const volumeSource: Arbitrary<Omit<V1Volume, "name">> = fc.oneof(
  fc.constant({}),
  fc.constantFrom(...EVERY_VOLUME).map(({ name: _, ...source }) => source),
  fc.record({ emptyDir: fields({ medium: some("", "Memory"), sizeLimit: quantity }) }),
  fc.record({ hostPath: fields({ path: fc.constant("/p"), type: some("", "Directory") }, ["path"]) }),
  mode.map((rest) => ({ configMap: { name: "c", ...rest } })),
  mode.map((rest) => ({ secret: { secretName: "s", ...rest } })),
  fc.record({ image: fields({ reference: image, pullPolicy: some("", "Always", "Never") }, ["reference"]) }),
  fields({ expirationSeconds: some(600, 3600), audience: some("", "a") }).map((token) => ({
    projected: { sources: [{ serviceAccountToken: { path: "t", ...token } }] },
  })),
);
const volumes = fc.uniqueArray(
  fc.tuple(name, volumeSource).map(([volume, source]): V1Volume => ({ name: volume, ...source })),
  { maxLength: 4, selector: (entry) => entry.name },
);

const labels = fc.dictionary(name, some("", "v", "w"), { maxKeys: 3 });

/** For a class or an engine: `prefix` keeps the container names of the two apart where they must not collide. */
export function randomTemplate(prefix: string): Arbitrary<PodTemplateFragment> {
  const extras = (kind: string) =>
    fc.uniqueArray(sidecar(`${prefix}${kind}`), { maxLength: 2, selector: (entry) => entry.name });
  return fields({
    metadata: fields({ labels, annotations: labels }),
    spec: fields({
      containers: fc.tuple(engineContainer, extras("s")).map(([engine, rest]) => [engine, ...rest]),
      initContainers: extras("i").map((list) =>
        // Plain init containers may have neither probes nor hooks.
        list.map(({ livenessProbe: _l, readinessProbe: _r, startupProbe: _s, lifecycle: _h, ...plain }) => plain),
      ),
      volumes,
      nodeSelector: labels,
      tolerations: fc.array(
        fields(
          {
            operator: fc.constant("Exists"),
            key: some("k", "j"),
            effect: some("", "NoExecute"),
            value: fc.constant(""),
          },
          ["operator"],
        ),
        { maxLength: 2 },
      ),
      securityContext: fields({
        runAsUser: some(0, 5),
        fsGroup: some(0, 7),
        supplementalGroups: some<number[]>([], [1]),
      }),
      serviceAccountName: some("", "s"),
      automountServiceAccountToken: some(true, false),
      priorityClassName: some("", "p"),
      schedulerName: some("", "default-scheduler", "mine"),
      dnsPolicy: some("", "ClusterFirst", "Default"),
      dnsConfig: fields({
        searches: some<string[]>([], ["a.b"]),
        options: some([{ name: "a" }], [{ name: "a", value: "" }]),
      }),
      runtimeClassName: fc.constant("gvisor"),
      preemptionPolicy: some("Never", "PreemptLowerPriority"),
      hostAliases: some([], [{ ip: "10.0.0.1", hostnames: ["h"] }]),
      imagePullSecrets: some([], [{ name: "p" }], [{ name: "p" }, { name: "q" }]),
      topologySpreadConstraints: some(
        [],
        [{ maxSkew: 1, topologyKey: "z", whenUnsatisfiable: "DoNotSchedule" }],
        [
          {
            maxSkew: 2,
            topologyKey: "z",
            whenUnsatisfiable: "ScheduleAnyway",
            labelSelector: {},
            minDomains: undefined,
          },
        ],
      ).map((list) => JSON.parse(JSON.stringify(list))),
    }),
  });
}
