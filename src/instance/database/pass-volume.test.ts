// Passes over a fake cluster in memory: a volume that cannot grow is reported and affects nothing else; a claim that
// gets no volume names its class, and one that never had one is replaced as the spec requires after one deletion.
import { KubeApiError, KubeTimeoutError } from "@firebolt-operator/kube";
import { describe, expect, test } from "vitest";
import { splitNextStep } from "../../../test/harness/fixtures/next-step.ts";
import { CLAIM, claimOf, POSTGRES } from "../../../test/instance/support/claim-fixture.ts";
import { InstanceRun } from "../../../test/instance/support/fake-passes.ts";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { Rendered } from "../model/children.ts";

type Settings = NonNullable<FireboltInstance["spec"]["metadata"]["builtInPostgres"]>;

const started = async (builtInPostgres: Settings) => {
  const run = new InstanceRun({ metadata: { engineRegistration: false, builtInPostgres } });
  await run.settle();
  return run;
};
const events = (run: InstanceRun) => run.events.filter(({ reason }) => reason === "VolumeFailing");
const change = (run: InstanceRun, storage: Settings["storage"]) =>
  run.world.edit("lakeside", (spec) => {
    spec.metadata.builtInPostgres = storage === undefined ? {} : { storage };
  });
/** What an admission policy, or the API server itself, makes of the claim template. */
function withTemplate(object: Rendered, template: object): Rendered {
  if (object.kind !== "StatefulSet") return object;
  const [first, ...rest] = object.spec?.volumeClaimTemplates ?? [];
  const volumeClaimTemplates = [{ ...first, spec: { ...first?.spec, ...template } }, ...rest];
  return { ...object, spec: { ...object.spec, volumeClaimTemplates } } as Rendered;
}
const grows = (run: InstanceRun) => run.world.requests.filter((request) => request.startsWith("grow"));

test("a size that the API server stores rounded is the size that was requested", async () => {
  const run = new InstanceRun({
    metadata: { engineRegistration: false, builtInPostgres: { storage: { size: "1.0001Gi" } } },
  });
  run.world.mutate = (object) => withTemplate(object, { resources: { requests: { storage: "1073849198183m" } } });
  await run.settle();
  expect(run.status.phase).toBe("Ready");
  run.forgetRequests();
  change(run, { size: "1073849198183m" });
  await run.settle();
  expect(run.world.requests.filter((request) => /delete|grow|update/.test(request))).toEqual([]);
  expect(run.status.phase).toBe("Ready");
});

describe("a volume whose class cannot expand", () => {
  const refusal = new KubeApiError("PATCH", 403, { message: "only dynamically provisioned pvc can be resized" });
  const refused = async () => {
    const run = await started({ storage: { size: "1Gi" } });
    run.world.intercept = (request) => {
      if (request.startsWith("grow")) throw refusal;
    };
    change(run, { size: "2Gi" });
    run.forgetRequests();
    await run.settle();
    return run;
  };

  test("is reported with claim, class, size and the next steps; Ready stays True, and everything else continues", async () => {
    const run = await refused();
    expect(run.condition("MetadataReady")).toBe("True/Ready");
    expect(run.condition("Ready")).toBe("True/AllComponentsReady");
    expect(run.status.phase).toBe("Ready");
    expect(run.message("MetadataReady")).toMatch(
      new RegExp(
        `, but there is a problem: PersistentVolumeClaim ${CLAIM} keeps its 1Gi of class "standard": .*2Gi: .*only dynamically`,
      ),
    );
    expect(splitNextStep(run.message("MetadataReady")).next).toMatch(
      /^set spec\.metadata\.builtInPostgres\.storage\.size back to 1Gi; .*allowVolumeExpansion.*backup and a restore$/,
    );
    expect(events(run)).toMatchObject([{ type: "Warning", note: expect.stringMatching(/keeps its 1Gi.*; next: set/) }]);
    run.world.drop("Deployment", "lakeside-gateway");
    await run.settle();
    expect(run.world.inventory()).toContain("Deployment lakeside-gateway");
  });

  test("is retried once a minute, and not in every pass; another process reports nothing twice", async () => {
    const run = await refused();
    expect(grows(run)).toHaveLength(1);
    run.restart();
    await run.settle();
    expect(grows(run)).toHaveLength(2);
    run.nowMs += 60_000;
    await run.settle();
    expect(grows(run)).toHaveLength(3);
    expect(events(run)).toHaveLength(1);
    run.world.intercept = () => undefined;
    run.nowMs += 60_000;
    await run.settle();
    expect(claimOf(run)?.spec?.resources?.requests).toEqual({ storage: "2Gi" });
    expect(run.message("MetadataReady")).toBe("Deployment lakeside-metadata has a ready replica");
  });

  test("going back to the size of the claim is accepted, and the message disappears", async () => {
    const run = await refused();
    change(run, { size: "1Gi" });
    await run.settle();
    expect(run.message("MetadataReady")).toBe("Deployment lakeside-metadata has a ready replica");
    expect(run.status.phase).toBe("Ready");
  });

  test("a missing response of the API server is a failure like any other", async () => {
    const run = await started({ storage: { size: "1Gi" } });
    run.world.intercept = (request) => {
      if (request.startsWith("grow")) throw new KubeTimeoutError("PATCH: no response within 30 s");
    };
    change(run, { size: "2Gi" });
    expect(await run.tryPass()).toBeInstanceOf(Error);
    expect(run.message("MetadataReady")).not.toContain("keeps its");
  });
});

describe("a claim that gets no volume", () => {
  /** The claim stays Pending, its pod cannot be scheduled, and metadata waits for both. */
  async function waiting(storage: Settings["storage"] = { storageClassName: "typo" }): Promise<InstanceRun> {
    const run = await started(storage === undefined ? {} : { storage });
    const { builtInPostgres: _, ...status } = run.status;
    run.world.put("FireboltInstance", { ...run.instance, status });
    unbind(run);
    const statefulSet = run.world.get("StatefulSet", POSTGRES);
    run.world.put("StatefulSet", { ...statefulSet, status: { replicas: 1, readyReplicas: 0 } });
    run.world.report("lakeside-metadata", 0);
    const condition = { type: "PodScheduled", status: "False", lastTransitionTime: "2026-01-01T00:00:00Z" } as const;
    const message = "pod has unbound immediate PersistentVolumeClaims";
    run.world.pods = [
      {
        metadata: { name: "lakeside-metadata-pg-0", namespace: "ns", labels: { "firebolt.io/component": "postgres" } },
        status: { phase: "Pending", conditions: [{ ...condition, message }] },
      },
    ];
    return run;
  }

  function unbind(run: InstanceRun, change: object = {}): void {
    const { volumeName: _, ...spec } = claimOf(run)?.spec ?? {};
    run.world.put("PersistentVolumeClaim", { ...claimOf(run), spec: { ...spec, ...change } });
  }

  const look = async (run: InstanceRun) => {
    run.nowMs += 60_000;
    await run.tryPass();
    return splitNextStep(run.message("MetadataReady"));
  };

  test("because its class does not exist: condition, event and next step name it", async () => {
    const run = await waiting();
    run.world.warnings = ['storageclass.storage.k8s.io "typo" not found'];
    const { cause, next } = await look(run);
    expect(cause).toMatch(
      new RegExp(`PersistentVolumeClaim ${CLAIM} has no volume: StorageClass "typo" does not exist$`),
    );
    expect(next).toMatch(
      /^set spec\.metadata\.builtInPostgres\.storage\.storageClassName to one that exists .*kubectl delete pvc data-lakeside-metadata-pg-0 -n ns; or create StorageClass "typo"$/,
    );
    expect(events(run)).toHaveLength(1);
    await look(run);
    expect(events(run)).toHaveLength(1);
  });

  test.each([
    [
      "of a class whose events name the cause",
      "typo",
      ["no space left"],
      /StorageClass "typo" has not provisioned one: no space left$/,
    ],
    ["of a class without events", "typo", [], /StorageClass "typo" has not provisioned one$/],
    [
      "without a class",
      "",
      ["no persistent volumes available"],
      /names no StorageClass, and the cluster has no default/,
    ],
  ])("%s", async (_, storageClassName, warnings, cause) => {
    const run = await waiting({ storageClassName });
    run.world.warnings = warnings;
    unbind(run, { storageClassName });
    expect((await look(run)).cause).toMatch(cause);
  });

  test.each([
    ["never repeat themselves", (at: number) => [`denied: encoded message Zq${at}x${at * 7919}Kp`]],
    ["alternate", (at: number) => [at % 2 === 0 ? "no space left" : "waiting for a zone"]],
    ["cannot be listed now and then", (at: number) => (at % 2 === 1 ? undefined : ["no space left"])],
  ])("warnings that %s cause one status write and one event, until minutes have passed", async (_, warningsAt) => {
    const run = await waiting();
    run.nowMs += 60_000;
    run.forgetRequests();
    for (let at = 0; at < 40; at++) {
      const warnings = warningsAt(at);
      run.world.warnings = warnings ?? [];
      run.world.intercept = (request) => {
        const isFailing = request === "list Event" || (request === "list Pod" && at % 4 === 1);
        if (isFailing && warnings === undefined) throw new KubeApiError("GET", 503, {});
      };
      run.nowMs += 4_000;
      await run.tryPass();
    }
    expect(run.world.requests.filter((request) => request === "list Event").length).toBeGreaterThan(15);
    expect(run.world.requests.filter((request) => request.startsWith("status"))).toHaveLength(1);
    expect(events(run)).toHaveLength(1);
    run.world.intercept = () => undefined;
    run.world.warnings = ["quota exceeded"];
    run.nowMs += 300_000;
    expect((await look(run)).cause).toContain("quota exceeded");
  });

  test("a class that is missing, and then exists, is reported at once", async () => {
    const run = await waiting();
    run.world.warnings = ["no space left"];
    expect((await look(run)).cause).toContain("no space left");
    run.world.warnings = ['storageclass.storage.k8s.io "typo" not found'];
    expect((await look(run)).cause).toContain('StorageClass "typo" does not exist');
    run.world.warnings = ["no space left"];
    expect((await look(run)).cause).toContain("no space left");
  });

  test("a clock that is set back does not keep an outdated cause", async () => {
    const run = await waiting();
    run.world.warnings = ["no space left"];
    await look(run);
    run.nowMs -= 3_600_000;
    run.world.pods = [];
    await run.tryPass();
    expect(run.message("MetadataReady")).not.toContain("no space left");
  });

  test("a corrected class: the StatefulSet is deleted first, so that one deletion of the claim is enough", async () => {
    const run = await waiting();
    change(run, { storageClassName: "fast" });
    const { cause, next } = await look(run);
    expect(run.condition("MetadataReady")).toBe("False/PostgresEnsureFailed");
    expect(cause).toMatch(/cannot change: .*class "typo"; it never had a volume and so holds no data$/);
    expect(next).toContain(`kubectl delete pvc ${CLAIM} -n ns`);
    // Nothing recreates it as it was, and the operator deletes no claim.
    expect(run.world.inventory()).not.toContain(`StatefulSet ${POSTGRES}`);
    expect(claimOf(run)).toBeDefined();
    run.world.drop("PersistentVolumeClaim", CLAIM);
    run.world.pods = [];
    await run.settle();
    expect(claimOf(run)?.spec?.storageClassName).toBe("fast");
    expect(run.status).toMatchObject({ phase: "Ready", builtInPostgres: { claimUID: claimOf(run)?.metadata?.uid } });
  });

  test.each([
    ["unset", undefined, "typo", "standard"],
    ["named where there was none", { storageClassName: "fast" }, undefined, "fast"],
  ])("a class that is %s: the claim is not created again as it was", async (_, storage, before, after) => {
    const run = await waiting(before === undefined ? undefined : { storageClassName: before });
    if (before === undefined) unbind(run, { storageClassName: undefined });
    change(run, storage);
    for (let pass = 0; pass < 3; pass++) await look(run);
    run.world.drop("PersistentVolumeClaim", CLAIM);
    if (run.world.get("StatefulSet", POSTGRES) !== undefined) run.world.makeClaim(POSTGRES);
    run.world.pods = [];
    await run.settle();
    expect(claimOf(run)?.spec?.storageClassName).toBe(after);
  });

  test("a class that is reverted needs no deletion", async () => {
    const run = await waiting();
    change(run, { storageClassName: "fast" });
    await look(run);
    change(run, { storageClassName: "typo" });
    run.world.pods = [];
    await run.settle();
    expect(run.world.get("StatefulSet", POSTGRES)?.spec?.volumeClaimTemplates?.[0]?.spec?.storageClassName).toBe(
      "typo",
    );
  });

  test.each([
    ["of a larger size", { size: "20Gi", storageClassName: "typo" }],
    ["of no class", { size: "10Gi" }],
  ])("a wish %s deletes nothing while a cache does not have the volume yet, or not the claim", async (_, storage) => {
    for (const isSeen of [true, false]) {
      const run = await waiting({ size: "10Gi", storageClassName: "typo" });
      const claim = claimOf(run);
      run.world.claim = () => (isSeen ? claim : undefined);
      run.world.put("PersistentVolumeClaim", { ...claim, spec: { ...claim?.spec, volumeName: "pv-1" } });
      change(run, storage);
      run.forgetRequests();
      await look(run);
      expect(run.world.requests.filter((request) => request.startsWith("delete"))).toEqual([]);
      expect(run.status.builtInPostgres?.claimUID).toBe(claim?.metadata?.uid);
    }
  });

  test.each([
    ["has a volume by now, which the cache does not show", { volumeName: "pv-1" }, {}, false],
    ["was bound once", {}, { "pv.kubernetes.io/bind-completed": "yes" }, false],
    ["is remembered", {}, {}, true],
  ])("a claim that %s is not taken for empty: nothing is deleted", async (_, spec, annotations, remember) => {
    const run = await waiting();
    const claim = claimOf(run);
    run.world.claim = () => claim;
    run.world.put("PersistentVolumeClaim", {
      ...claim,
      metadata: { ...claim?.metadata, annotations },
      spec: { ...claim?.spec, ...spec },
    });
    if (remember) {
      const builtInPostgres = { claimUID: claim?.metadata?.uid ?? "" };
      run.world.put("FireboltInstance", { ...run.instance, status: { ...run.status, builtInPostgres } });
    }
    change(run, { storageClassName: "fast" });
    await look(run);
    expect(run.message("MetadataReady")).toMatch(/cannot change: .*change it back, or move the catalogue/);
    expect(run.world.inventory()).toContain(`StatefulSet ${POSTGRES}`);
  });

  describe("under an admission policy that sets the class of claim templates", () => {
    const policed = async (storage: Settings["storage"], policy: (object: Rendered) => Rendered) => {
      const run = new InstanceRun({
        metadata: { engineRegistration: false, ...(storage === undefined ? {} : { builtInPostgres: { storage } }) },
      });
      run.world.mutate = policy;
      const made = run.world.makeClaim.bind(run.world);
      run.world.makeClaim = (name) => {
        made(name);
        unbind(run);
      };
      for (let pass = 0; pass < 20; pass++) await look(run);
      return run;
    };
    const setClass = (object: Rendered) => withTemplate(object, { storageClassName: "policy" });
    const deletions = (run: InstanceRun) => run.world.requests.filter((request) => request.startsWith("delete"));
    const classOf = (run: InstanceRun) =>
      run.world.get("StatefulSet", POSTGRES)?.spec?.volumeClaimTemplates?.[0]?.spec?.storageClassName;

    test.each([undefined, { size: "1Gi" }])("the StatefulSet is not replaced: %j", async (storage) => {
      const run = await policed(storage, setClass);
      run.restart();
      for (let pass = 0; pass < 5; pass++) await look(run);
      expect(deletions(run)).toEqual([]);
      expect(classOf(run)).toBe("policy");
    });

    test("another wish replaces it once, in whichever process", async () => {
      const run = await policed({ size: "1Gi" }, setClass);
      change(run, { size: "2Gi" });
      for (let pass = 0; pass < 5; pass++) await look(run);
      run.restart();
      for (let pass = 0; pass < 5; pass++) await look(run);
      expect(deletions(run)).toEqual([`delete StatefulSet ${POSTGRES}`]);
    });

    test("that removes the annotation of the wish, and changes a size that is named: once per process", async () => {
      const run = await policed({ size: "1Gi" }, (object) => {
        if (object.kind !== "StatefulSet") return object;
        const { "firebolt.io/volume-wish": _, ...annotations } = object.metadata.annotations ?? {};
        const { metadata } = object;
        return withTemplate(
          { ...object, metadata: { ...metadata, annotations } },
          { resources: { requests: { storage: "512Mi" } } },
        );
      });
      expect(deletions(run)).toHaveLength(1);
    });
  });
});
