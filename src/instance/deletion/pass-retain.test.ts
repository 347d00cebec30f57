// Passes over a fake cluster in memory: what is retained survives its instance together with the password, even when no
// pass has observed the setting before the deletion, and after whichever write a process exits. What is retained for
// another account is never deleted.
import { KubeApiError } from "@firebolt-operator/kube";
import { expect, test } from "vitest";
import { Crash } from "../../../test/instance/support/fake-instance-store.ts";
import { InstanceRun } from "../../../test/instance/support/fake-passes.ts";

const CLAIM = "data-lakeside-metadata-pg-0";
const SECRET = "lakeside-metadata-postgres-creds";
const KEPT = [`PersistentVolumeClaim ${CLAIM}`, `Secret ${SECRET}`];
const OWNER = { apiVersion: "external-secrets.io/v1", kind: "ExternalSecret", name: "creds", uid: "other-1" };

const secretOf = (run: InstanceRun) => run.world.get("Secret", SECRET)?.metadata;

function die(run: InstanceRun): void {
  const { metadata, ...rest } = run.instance;
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  run.world.put("FireboltInstance", { ...rest, metadata: { ...metadata, deletionTimestamp } });
}

/** Idle, and set to retain its volume; no pass has observed that. */
async function unseen(settings: { storage?: { size: string } } = {}): Promise<InstanceRun> {
  const run = new InstanceRun();
  await run.settle();
  run.world.edit("lakeside", (spec) => {
    spec.metadata.builtInPostgres = { volumeRetention: "Retain", ...settings };
  });
  return run;
}

test.each(["while the operator is away", "while the instance is refused"])(
  "set and deleted %s: the Secret loses its owner and names its account",
  async (when) => {
    const isRefused = when === "while the instance is refused";
    const run = await unseen(isRefused ? { storage: { size: "1Gi" } } : {});
    const { id } = run.instance.spec;
    for (let pass = 0; isRefused && pass < 3; pass++) await run.tryPass();
    die(run);
    await run.pass();
    expect(run.world.inventory()).toEqual(KEPT);
    expect(secretOf(run)).not.toHaveProperty("ownerReferences");
    expect(secretOf(run)?.annotations).toEqual({ "firebolt.io/account-id": id });
  },
);

test("an id that was removed is found before the configuration that has it is deleted", async () => {
  const run = await unseen();
  const { id } = run.instance.spec;
  run.world.edit("lakeside", (spec) => {
    delete spec.id;
  });
  die(run);
  await run.pass();
  expect(secretOf(run)?.annotations).toEqual({ "firebolt.io/account-id": id });
});

test("a process that exits after any write: the finalizer is never removed before the owner", async () => {
  for (let at = 0; ; at++) {
    const run = await unseen();
    die(run);
    let left = at;
    run.world.loseResponse = () => {
      if (left-- === 0) throw new Crash("ended");
    };
    for (let pass = 0; pass < 3 && run.world.get("FireboltInstance", "lakeside") !== undefined; pass++) {
      await run.pass().catch(() => run.restart());
      const isGone = run.world.get("FireboltInstance", "lakeside") === undefined;
      expect([at, isGone && secretOf(run)?.ownerReferences !== undefined]).toEqual([at, false]);
    }
    expect([at, ...run.world.inventory()]).toEqual([at, ...KEPT]);
    if (left >= 0) break;
  }
});

test("a Secret that cannot be released holds the deletion, and the condition reports it", async () => {
  const run = await unseen();
  die(run);
  const before = run.world.inventory();
  run.world.intercept = (request) => {
    if (request.startsWith("release")) throw new KubeApiError("PATCH", 403, { reason: "Forbidden", message: "no" });
  };
  for (let pass = 0; pass < 3; pass++) await run.tryPass();
  expect(run.world.inventory()).toEqual(before);
  expect(run.condition("Ready")).toBe("False/ReconcileFailed");
  run.world.intercept = () => undefined;
  await run.pass();
  expect(run.world.inventory()).toEqual(KEPT);
});

test.each(["a pass", "the deletion"])("%s takes away the instance's ownership and no other", async (who) => {
  const run = await unseen();
  const secret = run.world.get("Secret", SECRET);
  const ownerReferences = [...(secret?.metadata?.ownerReferences ?? []), OWNER];
  run.world.put("Secret", { ...secret, metadata: { ...secret?.metadata, ownerReferences } });
  if (who === "the deletion") {
    die(run);
    await run.pass();
  } else await run.settle();
  expect(secretOf(run)?.ownerReferences).toEqual([OWNER]);
});

test.each(["Retain", "Delete"] as const)(
  "%s: an instance that was refused the volume of another account leaves it alone",
  async (volumeRetention) => {
    const run = await unseen();
    const { id } = run.instance.spec;
    die(run);
    await run.pass();
    const metadata = { engineRegistration: false, builtInPostgres: { volumeRetention } };
    const spec = { id: "other", metadataNG: false, metadata, gateway: { metricsPort: 9090 } };
    run.world.put("FireboltInstance", { metadata: { name: "lakeside", uid: "uid-2" }, spec });
    for (let pass = 0; pass < 4; pass++) await run.tryPass();
    expect(run.message("Ready")).toContain(`retained for account ${id}`);
    die(run);
    await run.pass();
    expect(run.world.inventory()).toEqual(KEPT);
    expect(secretOf(run)?.annotations).toEqual({ "firebolt.io/account-id": id });
  },
);
