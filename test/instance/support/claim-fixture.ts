// The claim of the built-in PostgreSQL in tests of whole passes: deleting it, replacing it, and consenting to its loss.
import type { InstanceRun } from "./fake-passes.ts";

export const CLAIM = "data-lakeside-metadata-pg-0";
export const POSTGRES = "lakeside-metadata-pg";
export const CONSENT = "firebolt.io/accept-empty-catalogue";

export const claimOf = (run: InstanceRun) => run.world.get("PersistentVolumeClaim", CLAIM);
export const uidOf = (run: InstanceRun) => claimOf(run)?.metadata?.uid;
export const postgres = (run: InstanceRun) => run.world.get("StatefulSet", POSTGRES)?.spec;
export const warnings = (run: InstanceRun, reason: string) => run.events.filter((event) => event.reason === reason);

export async function passes(run: InstanceRun, count = 3): Promise<void> {
  for (let pass = 0; pass < count; pass++) await run.tryPass();
}

/** Being deleted, and kept by the pod that uses it. */
export function deleteClaim(run: InstanceRun): void {
  const claim = claimOf(run);
  const metadata = { ...claim?.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
  run.world.put("PersistentVolumeClaim", { ...claim, metadata });
}

export function unlabel(run: InstanceRun): void {
  const claim = claimOf(run);
  run.world.put("PersistentVolumeClaim", { ...claim, metadata: { ...claim?.metadata, labels: {} } });
}

/** The pod terminates, so the claim is deleted; the StatefulSet controller creates a new one if a pod is desired. */
export function stopPod(run: InstanceRun): void {
  run.world.drop("PersistentVolumeClaim", CLAIM);
  run.world.makeClaim(POSTGRES);
}

export function consent(run: InstanceRun, value: string): void {
  const { metadata, ...rest } = run.instance;
  const annotations = { ...metadata?.annotations, [CONSENT]: value };
  run.world.put("FireboltInstance", { ...rest, metadata: { ...metadata, annotations } });
}

/** Accepts whatever replaces the claim in the status. */
export const consentToLoss = (run: InstanceRun) => consent(run, `lost-${run.status.builtInPostgres?.claimUID}`);
