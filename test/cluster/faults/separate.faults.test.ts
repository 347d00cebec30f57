// Faults of engines and instances, in parallel: each shows its cause to users within two minutes, and recovers after
// the repair.
import { afterAll, describe, inject, test } from "vitest";
import { SEPARATE_FAULTS } from "./all-faults.ts";
import { recordTimes, takeTurn } from "./run-target.ts";
import { removeTargets } from "./targets.ts";

afterAll(async () => {
  recordTimes("faults");
  await removeTargets(inject("e2e"));
});

describe.concurrent("faults", () => {
  test.each(SEPARATE_FAULTS)("$name", (fault) => takeTurn(fault));
});
