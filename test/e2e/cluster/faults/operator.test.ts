// The operator itself is in trouble: what it cannot say, the plugin says, and everything goes on where it stopped.
import { afterAll, beforeAll, inject, test } from "vitest";
import { OPERATOR_FAULTS } from "./operator-faults.ts";
import { preparePlaces } from "./places.ts";
import { recordTimes, takeTurn } from "./run-place.ts";

beforeAll(() => preparePlaces(inject("e2e"), OPERATOR_FAULTS));
afterAll(() => recordTimes("operator-faults"));

test.each(OPERATOR_FAULTS)("$name", (fault) => takeTurn(fault));
