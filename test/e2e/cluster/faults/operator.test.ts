// The operator itself is in trouble: what it cannot say, the plugin says, and everything goes on where it stopped.
import { afterAll, inject, test } from "vitest";
import { OPERATOR_FAULTS } from "./operator-faults.ts";
import { removePlaces } from "./places.ts";
import { recordTimes, takeTurn } from "./run-place.ts";

afterAll(async () => {
  recordTimes("operator-faults");
  await removePlaces(inject("e2e"));
});

test.each(OPERATOR_FAULTS)("$name", (fault) => takeTurn(fault));
