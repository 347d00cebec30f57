// What goes wrong with engines and instances, side by side: each shows its cause where people look within two minutes, and
// heals when it is mended.
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
