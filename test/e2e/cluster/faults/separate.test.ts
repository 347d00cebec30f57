// Thirty things that go wrong with engines and instances, side by side: each shows its cause where people look within two minutes, and
// heals when it is mended.
import { afterAll, describe, inject, test } from "vitest";
import { SEPARATE_FAULTS } from "./all-faults.ts";
import { removePlaces } from "./places.ts";
import { recordTimes, takeTurn } from "./run-place.ts";

/** Only ends what hangs: most of it is waiting for its turn, and for the node. */
const TEST_MS = 900_000;

afterAll(async () => {
  recordTimes("faults");
  await removePlaces(inject("e2e"));
});

describe.concurrent("faults", () => {
  test.each(SEPARATE_FAULTS)("$name", (fault) => takeTurn(fault), TEST_MS);
});
