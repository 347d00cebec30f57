// The operator itself is in trouble: what it cannot say, the plugin says, and everything goes on where it stopped.
import { afterAll, test } from "vitest";
import { OPERATOR_FAULTS } from "./operator-faults.ts";
import { recordTimes, takeTurn } from "./run-place.ts";

afterAll(() => recordTimes("operator-faults"));

test.each(OPERATOR_FAULTS)("$name", (fault) => takeTurn(fault));
