// The history of one engine, in a form that tests compare: the distinct values that a field has had, in order.
import type { EngineHistory } from "./history.ts";

interface Observed {
  readonly history: EngineHistory;
}

const withoutRepeats = <T>(values: readonly T[]): readonly T[] =>
  values.filter((value, index) => index === 0 || value !== values[index - 1]);

export const phasesOf = ({ history }: Observed, name: string): readonly string[] =>
  withoutRepeats(history.of("FireboltEngine", name).flatMap(({ object }) => object.status?.phase ?? []));

export const readyReasonsOf = ({ history }: Observed, name: string): readonly string[] =>
  withoutRepeats(
    history
      .of("FireboltEngine", name)
      .flatMap(({ object }) => object.status?.conditions?.find(({ type }) => type === "Ready")?.reason ?? []),
  );

/** Numbers that were stored as the current generation. */
export const generationsOf = ({ history }: Observed, name: string): readonly number[] =>
  withoutRepeats(history.of("FireboltEngine", name).flatMap(({ object }) => object.status?.currentGeneration ?? []));

/** Generations that the routing Service selected. */
export const targetsOf = ({ history }: Observed, name: string): readonly (string | undefined)[] =>
  withoutRepeats(
    history.of("Service", `${name}-service`).map(({ object }) => object.spec?.selector?.["firebolt.io/generation"]),
  );
