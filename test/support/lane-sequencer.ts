// Assigns test files to the lanes of `npm test` (scripts/test-lanes.ts): the longest first, each to the lane with the least to do. SECONDS has
// measured times of long files; for all others an estimate per project is good enough.
import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

export const LANES = 2;

export const SECONDS: Readonly<Record<string, number>> = {
  "test/integration/engine-quiet.test.ts": 100,
  "test/e2e/playground-simulated.test.ts": 84,
  "test/integration/wake-demand.test.ts": 72,
  "test/e2e/playground-context.test.ts": 66,
  "test/integration/wake-races.test.ts": 58,
  "test/integration/gateway-switch.test.ts": 51,
  "test/integration/wake-faults.test.ts": 50,
  "test/integration/control-plane.test.ts": 47,
  "test/integration/rbac.test.ts": 46,
  "test/integration/fleet-guard.test.ts": 45,
  "test/integration/engine-leaders.test.ts": 42,
  "test/integration/gateway-identity.test.ts": 41,
  "test/e2e/playground.test.ts": 40,
  "test/integration/engine-crash.test.ts": 39,
  "test/integration/plugin-plan.test.ts": 39,
  "test/integration/plugin-print.test.ts": 36,
  "test/integration/plugin-install.test.ts": 36,
  "test/integration/wake-hold.test.ts": 35,
  "test/integration/gateway-shutdown.test.ts": 31,
  "packages/kube/test/integration/leader-election.test.ts": 30,
  "packages/kube/test/integration/package.test.ts": 30,
  "test/integration/metrics-rules.test.ts": 30,
  "test/integration/gateway-routing.test.ts": 29,
};
const USUAL_SECONDS: Readonly<Record<string, number>> = { unit: 0.5, integration: 12, e2e: 25 };

export interface Weighed {
  readonly path: string;
  readonly project: string;
}

/** The files of each lane. Deterministic: it does not depend on the order of the input. */
export function dealOut<T extends Weighed>(files: readonly T[], lanes: number): readonly (readonly T[])[] {
  const known = new Map(Object.entries(SECONDS));
  const seconds = ({ path, project }: Weighed): number => known.get(path) ?? USUAL_SECONDS[project] ?? 1;
  const longestFirst = files.toSorted(
    (one, other) => seconds(other) - seconds(one) || (one.path < other.path ? -1 : 1),
  );
  const dealt = Array.from({ length: lanes }, () => ({ total: 0, files: [] as T[] }));
  for (const file of longestFirst) {
    const lane = dealt.reduce((least, one) => (one.total < least.total ? one : least));
    lane.files.push(file);
    lane.total += seconds(file);
  }
  return dealt.map((lane) => lane.files);
}

export class LaneSequencer extends BaseSequencer {
  override async shard(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const { root, shard } = this.ctx.config;
    if (shard === undefined) return specifications;
    const files = specifications.map((specification) => ({
      path: relative(root, specification.moduleId),
      project: specification.project.name,
      specification,
    }));
    return (dealOut(files, shard.count)[shard.index - 1] ?? []).map(({ specification }) => specification);
  }
}
