// Which integration tests belong to changed files. Pure: paths in, paths out.

/** The area of tests (test/AREA) for each part of the program. The longest beginning wins; what is not listed has unit tests alone. */
export const AREA_OF: Readonly<Record<string, string>> = {
  "src/engine": "engine",
  "src/engineclass": "engine",
  "src/instance": "instance",
  "src/gateway": "gateway",
  "src/wake-agent": "wake",
  "src/admission": "admission",
  "src/plugin": "plugin",
  "src/metrics": "metrics",
  "src/operator": "operator",
  "config/crd": "crd",
  "src/api": "crd",
  charts: "chart",
  examples: "examples",
  "dev/control-plane": "dev",
  "dev/images": "dev",
  "dev/stand-ins": "dev",
  "packages/kube/src": "packages/kube",
  "packages/kube/test": "packages/kube",
};

export interface ChangedPlan {
  readonly areas: readonly string[];
  readonly tests: readonly string[];
}

/** A changed test file runs alone; a change of an area's support, or of its part of the program, runs the whole area. */
export function planChanged(changed: readonly string[], integrationTests: readonly string[]): ChangedPlan {
  const known = new Set(integrationTests);
  const areas = [
    ...new Set(changed.filter((path) => !path.endsWith(".test.ts")).flatMap((path) => areaOf(path) ?? [])),
  ];
  const wanted = integrationTests.filter(
    (test) => changed.includes(test) || areas.some((area) => test.startsWith(`${folderOf(area)}/`)),
  );
  return { areas: areas.sort(), tests: wanted.filter((test) => known.has(test)).sort() };
}

const folderOf = (area: string): string => (area.includes("/") ? area : `test/${area}`);

function areaOf(path: string): string | undefined {
  const [, area] = /^test\/([^/]+)\//.exec(path) ?? [];
  if (area !== undefined) return area;
  const [beginning] = Object.keys(AREA_OF)
    .filter((prefix) => path.startsWith(`${prefix}/`))
    .sort((one, other) => other.length - one.length);
  return beginning === undefined ? undefined : AREA_OF[beginning];
}
