import { expect, test } from "vitest";
import { OPERATOR_DEFAULTS } from "../../src/api/operator-defaults.ts";
import { PINS } from "./pins.ts";

test("the Envoy that is shipped is the Envoy that the tests run", () => {
  expect(OPERATOR_DEFAULTS.images.envoy).toBe(`envoyproxy/envoy:${PINS.envoy.version}`);
});
