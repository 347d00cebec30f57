// What is shown of kubectl's own errors.
import { expect, test } from "vitest";
import { kubectlError } from "./forwarding.ts";

test.each([
  ["error: unable to forward port\n", "unable to forward port"],
  ["error: error: twice", "twice"],
  ["Unable to connect to the server", "Unable to connect to the server"],
  ["", ""],
])("%s", (said, shown) => {
  expect(kubectlError(said)).toBe(shown);
});

test("a node that cannot forward ports is explained", () => {
  expect(kubectlError("error: error upgrading connection: dial tcp 10.0.0.1:10250: refused")).toMatch(
    /^error upgrading connection: .*\nthe node of the pod does not forward ports: simulated nodes cannot/,
  );
});
