// Assigns test files to the lanes of `npm test` (scripts/test-lanes.ts): the longest first, each to the lane with the least to do. SECONDS has
// measured times of long files; for all others an estimate per project is good enough.
import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

export const LANES = 2;

export const SECONDS: Readonly<Record<string, number>> = {
  "test/engine/quiet.integration.test.ts": 100,
  "test/dev/playground-simulated.e2e.test.ts": 84,
  "test/wake/demand.integration.test.ts": 72,
  "test/dev/playground-context.e2e.test.ts": 66,
  "test/wake/races.integration.test.ts": 58,
  "test/gateway/switch.integration.test.ts": 51,
  "test/wake/faults.integration.test.ts": 50,
  "test/dev/control-plane.integration.test.ts": 47,
  "test/chart/rbac.integration.test.ts": 46,
  "test/operator/request-budget.integration.test.ts": 45,
  "test/engine/leaders.integration.test.ts": 42,
  "test/instance/gateway-identity.integration.test.ts": 41,
  "test/dev/playground.e2e.test.ts": 40,
  "test/engine/crash.integration.test.ts": 39,
  "test/plugin/plan.integration.test.ts": 39,
  "test/plugin/print.integration.test.ts": 36,
  "test/plugin/install.integration.test.ts": 36,
  "test/wake/hold.integration.test.ts": 35,
  "test/gateway/shutdown.integration.test.ts": 31,
  "packages/kube/test/integration/leader-election.test.ts": 30,
  "packages/kube/test/integration/package.test.ts": 30,
  "test/metrics/rules.integration.test.ts": 30,
  "test/gateway/routing.integration.test.ts": 29,
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
