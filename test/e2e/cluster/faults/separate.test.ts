// Thirty things that go wrong with engines and instances, side by side: each shows its cause where people look within two minutes, and
// heals when it is mended.
import { afterAll, describe, inject, test } from "vitest";
import { connect } from "../../../../dev/platform/connection.ts";
import { namespaces } from "../../../../dev/platform/namespace.ts";
import { SEPARATE_FAULTS } from "./all-faults.ts";
import { recordTimes, takeTurn } from "./run-place.ts";

const TEST_MS = 480_000;

/** Whoever comes next need not share the node with them. */
afterAll(async () => {
  recordTimes("faults");
  using cluster = await connect({ kubeconfig: inject("e2e").kubeconfig });
  for (const namespace of new Set(SEPARATE_FAULTS.map(({ place }) => place.namespace)))
    await cluster.client.delete(namespaces, { name: namespace }, cluster.call);
});

describe.concurrent("faults", () => {
  test.each(SEPARATE_FAULTS)("$name", (fault) => takeTurn(fault), TEST_MS);
});
