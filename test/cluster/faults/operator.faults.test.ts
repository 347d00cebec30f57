// Faults of the operator itself: the plugin reports what the operator cannot, and the operator resumes where it
// stopped.
import { afterAll, inject, test } from "vitest";
import { OPERATOR_FAULTS } from "./operator-faults.ts";
import { recordTimes, takeTurn } from "./run-target.ts";
import { removeTargets } from "./targets.ts";

afterAll(async () => {
  recordTimes("operator-faults");
  await removeTargets(inject("e2e"));
});

test.each(OPERATOR_FAULTS)("$name", (fault) => takeTurn(fault));
