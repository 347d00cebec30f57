// What engines cost the API server, on a real control plane with simulated nodes: requests per engine from creation to
// Ready and for one graceful roll, and requests at rest. Options: --engines N --idle SECONDS. Runs below
// dev/sandbox/network.sh.
import { parseArgs } from "node:util";
import { startEngineControlPlane } from "../test/engine/support/engine-control-plane.ts";
import { openEngineHarness } from "../test/engine/support/engine-harness.ts";
import { countEngineRequests, REQUEST_BUDGET } from "../test/engine/support/request-counts.ts";

export async function run(args: readonly string[]): Promise<object> {
  const { values } = parseArgs({
    args: [...args],
    options: { engines: { type: "string", default: "20" }, idle: { type: "string", default: "60" } },
  });
  await using plane = await startEngineControlPlane();
  await using harness = await openEngineHarness(plane, "requests");
  await harness.createInstance();
  const counts = await countEngineRequests(harness, {
    engines: Number(values.engines),
    idleMs: Number(values.idle) * 1_000,
    progress: (line) => console.error(`engine-requests: ${line}`),
  });
  const { create, roll, idle } = REQUEST_BUDGET;
  if (counts.createPerEngine > create || counts.rollPerEngine > roll || counts.idleRequests > idle)
    throw new Error(
      `over the budget of ${create} to create, ${roll} to roll and ${idle} at rest: ${JSON.stringify(counts)}`,
    );
  return counts;
}
