// The catalogue: PostgreSQL, its Secret, its volume, and the metadata service on top of them. Engines go on serving without.
import { expect } from "vitest";
import { resolveAssets } from "../../../dev/assets/resolver.ts";
import { runProgram } from "../../../dev/assets/run-program.ts";
import { FireboltInstance } from "../../../src/api/firebolt-instance/instance.ts";
import { LABEL } from "../../../src/api/labels.ts";
import { pods } from "../../../src/engine/cluster/kinds.ts";
import { KINDS } from "../../../src/instance/cluster/kinds.ts";
import { credentialsSecretName, postgresName } from "../../../src/instance/model/names.ts";
import { asNew, editInstance, editObject, expectInstanceReady, read, remove, removeForGood } from "./expect.ts";
import type { Fault, Scene } from "./fault.ts";
import { look } from "./signs.ts";
import { fill, makeRoom } from "./small-volume.ts";
import { CLAIM, DATABASE, FULL } from "./targets.ts";
import { until } from "./wait.ts";

const base = { target: DATABASE, engine: {}, subject: "instance", load: true } as const;
const PROGRAM_MS = 60_000;

const postgresPod = ({ instance }: Scene): string => `${postgresName(instance)}-0`;
const claimName = (scene: Scene): string => `data-${postgresPod(scene)}`;

async function deleteMetadataPods(scene: Scene): Promise<void> {
  const { cluster, namespace, instance } = scene;
  const labelSelector = `${LABEL.instance}=${instance},${LABEL.component}=metadata`;
  const { items } = await cluster.client.listAll(pods, { ...cluster.call, namespace, labelSelector });
  for (const { metadata } of items) await remove(scene, pods, metadata?.name ?? "");
}

/** As on the page: the socket inside the pod requires no password. */
async function psql(scene: Scene, ...statements: readonly string[]): Promise<void> {
  const { context, namespace } = scene;
  const kubectl = (await resolveAssets(["kubectl"])).get("kubectl") ?? "";
  const commands = statements.flatMap((sql) => ["-c", sql]);
  const inside = ["psql", "-q", "-U", "firebolt", "-d", "firebolt_metadata", ...commands];
  await runProgram({
    program: kubectl,
    args: [`--kubeconfig=${context.kubeconfig}`, "-n", namespace, "exec", postgresPod(scene), "--", ...inside],
    timeoutMs: PROGRAM_MS,
  });
}

/** The annotation in the last command of a message. */
function consentIn(message: string): readonly [string, string] {
  const [, key, value] = [...message.matchAll(/(firebolt\.io\/accept-empty-catalogue)=([\w-]+)/g)].at(-1) ?? [];
  if (key === undefined || value === undefined) throw new Error(`the message names no next step: ${message}`);
  return [key, value];
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

export const DATABASE_FAULTS: readonly Fault[] = [
  {
    ...base,
    name: "postgres-pod-deleted",
    // The StatefulSet recreates it in seconds: Kubernetes records that, and the operator adds nothing.
    signs: { kubernetes: /^Normal Killing Pod books-metadata-pg-0: Stopping container postgresql/m },
    async make(scene) {
      const remade = await removeForGood(scene, pods, postgresPod(scene));
      return {
        async healed() {
          await remade();
          await expectInstanceReady(scene);
        },
      };
    },
  },
  {
    ...base,
    name: "postgres-secret-deleted",
    signs: {
      condition: /^MetadataReady=False PostgresEnsureFailed: Secret books-metadata-postgres-creds is missing/m,
      event: /^Warning ComponentUnready: .*Secret books-metadata-postgres-creds is missing/m,
      status:
        /books .*[\s\S]*?waits: Secret books-metadata-postgres-creds is missing.*next: restore the Secret.*\| kubectl label --local .*\| kubectl apply/,
    },
    async make(scene) {
      const name = credentialsSecretName(scene.instance);
      const secret = await read(scene, KINDS.Secret, name);
      await remove(scene, KINDS.Secret, name);
      return {
        mend: () => scene.cluster.client.create(KINDS.Secret, asNew(secret), scene.cluster.call),
        healed: () => expectInstanceReady(scene),
      };
    },
  },
  {
    ...base,
    name: "postgres-wrong-password",
    signs: {
      condition: /^MetadataReady=False .*pod books-metadata-(?!pg)/m,
      event: /^Warning PodFailing: pod books-metadata-(?!pg)/m,
      status: /books .*[\s\S]*?pod books-metadata-(?!pg).*\n.*next: .*kubectl logs.*ALTER ROLE/,
    },
    async make(scene) {
      const name = credentialsSecretName(scene.instance);
      const password = "not-what-it-was";
      await editObject(scene, KINDS.Secret, { name, body: { data: { password: base64(password) } } });
      await deleteMetadataPods(scene);
      return {
        mend: () => psql(scene, `ALTER ROLE firebolt PASSWORD '${password}'`),
        healed: () => expectInstanceReady(scene),
      };
    },
  },
  {
    ...base,
    name: "metadata-crash-loop",
    signs: {
      condition: /^MetadataReady=\w+ .*pod books-metadata-.*container metadata crashes/m,
      event: /^Warning PodFailing: .*container metadata crashes/m,
      status:
        /books .*[\s\S]*?container metadata crashes.*\n.*next: .*kubectl logs books-metadata-.*-c metadata --previous/,
    },
    async make(scene) {
      const image = scene.context.images.find(({ name }) => name === "engine")?.reference ?? "";
      await editInstance(scene, { metadata: { template: { spec: { containers: [{ name: "metadata", image }] } } } });
      return {
        mend: () => editInstance(scene, { metadata: { template: null } }),
        healed: () => expectInstanceReady(scene),
      };
    },
  },
  {
    name: "postgres-claim-deleted",
    target: CLAIM,
    engine: {},
    subject: "instance",
    load: true,
    signs: {
      condition: /^MetadataReady=False CatalogueLost: /m,
      event: /^Warning CatalogueLost: /m,
      status: /lost .*\n(.*\n)*?.*data-lost-metadata-pg-0/,
    },
    async make(scene) {
      const seen = /CatalogueLost/;
      const claim = await read(scene, KINDS.PersistentVolumeClaim, claimName(scene));
      await remove(scene, KINDS.PersistentVolumeClaim, claimName(scene));
      // The claim ends with the last pod that uses it: there is still time to copy everything.
      await until("a condition about a claim that is being deleted", async () =>
        expect((await look(scene, { subject: "instance" })).condition).toMatch(seen),
      );
      await remove(scene, pods, postgresPod(scene));
      return {
        async outlast() {
          // No empty database replaces it automatically.
          await until("the end of the claim, and no database on another one", async () => {
            const { client, call } = scene.cluster;
            const key = (name: string) => ({ namespace: scene.namespace, name });
            const found = await client.find(KINDS.PersistentVolumeClaim, key(claimName(scene)), call);
            expect(found?.metadata?.uid).not.toBe(claim.metadata?.uid);
            const pod = await client.find(pods, key(postgresPod(scene)), call);
            expect(pod?.status?.phase ?? "none").not.toBe("Running");
          });
        },
        async mend() {
          const { condition } = await look(scene, { subject: "instance" });
          const annotations = Object.fromEntries([consentIn(condition)]);
          await editObject(scene, FireboltInstance, { name: scene.instance, body: { metadata: { annotations } } });
        },
        healed: () => expectInstanceReady(scene),
      };
    },
  },
  {
    name: "postgres-volume-full",
    target: FULL,
    engine: {},
    subject: "instance",
    load: true,
    signs: {
      condition: /^MetadataReady=False .*pod full-metadata-pg-0: container postgresql crashes/m,
      event: /^Warning PodFailing: .*container postgresql crashes/m,
      status: /full .*[\s\S]*?container postgresql crashes.*\n.*next: .*kubectl logs full-metadata-pg-0 .*--previous/,
    },
    async make(scene) {
      fill(scene.context);
      // The next write needs a new file, and the server ends rather than lose it.
      const many = "CREATE TABLE filler AS SELECT generate_series(1, 1000000)";
      const [outcome] = await Promise.allSettled([psql(scene, "SELECT pg_switch_wal()", many)]);
      expect(outcome.status).toBe("rejected");
      return { mend: async () => makeRoom(scene.context), healed: () => expectInstanceReady(scene) };
    },
  },
];
