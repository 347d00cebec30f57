// Random manifests for admission: templates that the rules accept, fields that they reject and their paths, and
// arbitrary JSON. The path of a rejected field is known, so a test knows what must be reported.
import fc, { type Arbitrary } from "fast-check";
import type { PodTemplateFragment } from "../../../src/api/schema/pod-template.ts";
import { randomTemplate } from "../../harness/fixtures/random-template.ts";

export interface Spoiled {
  readonly template: PodTemplateFragment;
  /** Of every rejected field, below the template. */
  readonly paths: readonly string[];
}

interface Spoiler {
  readonly path: string;
  spoil(template: Mutable): void;
}

/** As JSON: what the API server would be sent. */
type Mutable = {
  metadata?: Record<string, unknown>;
  spec?: Record<string, unknown> & { containers?: Record<string, unknown>[] };
};

const inSpec = (field: string, value: unknown): Spoiler => ({
  path: `spec.${field}`,
  spoil: (template) => {
    template.spec = { ...template.spec, [field]: value };
  },
});
const inMetadata = (field: string, value: unknown): Spoiler => ({
  path: `metadata.${field}`,
  spoil: (template) => {
    template.metadata = { ...template.metadata, [field]: value };
  },
});
const onEngine = (field: string, value: unknown): Spoiler => ({
  path: `spec.containers[0].${field}`,
  spoil: (template) => {
    // The engine container is the first one wherever there is a list.
    const [engine = { name: "engine" }, ...rest] = template.spec?.containers ?? [];
    template.spec = { ...template.spec, containers: [{ ...engine, [field]: value }, ...rest] };
  },
});

const SPOILERS: readonly Spoiler[] = [
  inSpec("terminationGracePeriodSeconds", 0),
  inSpec("hostname", "h"),
  inSpec("subdomain", "h"),
  inSpec("restartPolicy", "Always"),
  inSpec("activeDeadlineSeconds", 5),
  inSpec("hostNetwork", true),
  inSpec("hostPID", true),
  inSpec("hostIPC", true),
  inSpec("shareProcessNamespace", false),
  inSpec("hostUsers", true),
  inMetadata("name", "p"),
  inMetadata("finalizers", ["a/b"]),
  inMetadata("namespace", "n"),
  onEngine("command", ["x"]),
  onEngine("args", ["x"]),
  onEngine("ports", [{ containerPort: 1 }]),
  onEngine("livenessProbe", { tcpSocket: { port: 1 } }),
  onEngine("tty", true),
  onEngine("stdin", true),
];

/** A template that the rules accept, with any number of rejected fields added; none in one of three. */
export const spoiledTemplate: Arbitrary<Spoiled> = fc
  .tuple(
    randomTemplate("x"),
    fc.oneof(
      { weight: 1, arbitrary: fc.constant([]) },
      { weight: 2, arbitrary: fc.subarray([...SPOILERS], { minLength: 1 }) },
    ),
  )
  .map(([base, spoilers]) => {
    const template: Mutable = JSON.parse(JSON.stringify(base));
    for (const { spoil } of spoilers) spoil(template);
    const spoiled: PodTemplateFragment = JSON.parse(JSON.stringify(template));
    return { template: spoiled, paths: spoilers.map(({ path }) => path) };
  });

/** Any JSON object, biased towards the fields that validators read and the keys that break careless code. */
export const anyManifest: Arbitrary<Record<string, unknown>> = fc.letrec<{
  value: unknown;
  object: Record<string, unknown>;
}>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<unknown>(null, "", "engine", "1", true, -1, 1e308),
    fc.jsonValue(),
    tie("object"),
    fc.array(tie("object"), { maxLength: 3 }),
  ),
  object: fc.dictionary(
    fc.constantFrom(
      ..."metadata spec template containers initContainers volumes name env envFrom valueFrom secretKeyRef resources limits requests cpu labels annotations engineClassRef instanceRef gateway postgres credentialsSecretRef auth enabled local oidc providers tls engine secret projected sources volumeMounts __proto__ constructor toString finalizers deletionTimestamp hostNetwork".split(
        " ",
      ),
    ),
    tie("value"),
    { maxKeys: 5 },
  ),
})).object;
