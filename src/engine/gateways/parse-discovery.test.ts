// The report of a gateway's agent: every series that the agent writes is read back, and nothing else counts.
import fc from "fast-check";
import { expect, test } from "vitest";
import { renderDiscovery } from "../../wake-agent/discovery/render-discovery.ts";
import { parseDiscovery } from "./parse-discovery.ts";

interface Written {
  readonly connected?: boolean;
  readonly engines?: readonly string[];
  readonly pods?: Readonly<Record<string, readonly (readonly [number, number])[]>>;
}

/** As the agent writes it. */
function body({ connected = true, engines = ["adhoc"], pods = { adhoc: [[4, 2]] } }: Written = {}): string {
  return renderDiscovery({
    discovery: {
      connected,
      engines,
      rejections: 3,
      generations: (engine) => new Map(pods[engine] ?? []),
      isAccepted: (engine) => engine !== "late",
    },
    view: { complete: true, isWatchBroken: false, engineNames: Object.keys(pods) },
    gateway: { queriesByName: 14, withoutNamesMs: 60_000 },
  });
}

test("everything that the agent writes", () => {
  const pods = {
    adhoc: [
      [3, 1],
      [4, 2],
    ],
    late: [[-1, 5]],
  } as const;
  expect(parseDiscovery(body({ engines: ["adhoc", "late"], pods }))).toEqual({
    isActive: true,
    isConnected: true,
    engines: 2,
    rejected: 3,
    queriesByName: 14,
    generations: new Map<string, ReadonlyMap<number, number>>([
      ["adhoc", new Map(pods.adhoc)],
      ["late", new Map(pods.late)],
    ]),
    pending: new Set(["late"]),
  });
  expect(parseDiscovery(body({ connected: false }))).toMatchObject({ isActive: false, isConnected: false });
});

test("what is missing is unknown, not zero", () => {
  expect(parseDiscovery("firebolt_gateway_discovery_active 1\n")).toEqual({
    isActive: true,
    isConnected: undefined,
    engines: undefined,
    rejected: undefined,
    queriesByName: undefined,
    generations: new Map(),
    pending: new Set(),
  });
});

test.each([
  ["nothing", ""],
  ["something else", "<html>not found</html>"],
  ["a value that is neither", "firebolt_gateway_discovery_active 2\n"],
  ["leading zeros", "firebolt_gateway_discovery_active 01\n"],
  ["a longer line", "firebolt_gateway_discovery_active 1 1700000000\n"],
  ["a shorter name", "gateway_discovery_active 1\n"],
])("no report: %s", (_, text) => expect(parseDiscovery(text)).toBeUndefined());

test.each([
  ['engine="Adhoc"'],
  ['engine="a_b"'],
  ['engine="a.b"'],
  ['engine="-a"'],
  ['engine="a-"'],
  ['engine=""'],
  [`engine="${"a".repeat(64)}"`],
  ['engine="a\u001b[31m"'],
  ['engine="a\\"b"'],
  ['engine="a",pod="x"'],
])("a row of another form is no report, as it may name a generation that gets queries: %s", (label) => {
  for (const row of [
    `firebolt_gateway_discovery_endpoints{${label},generation="1"} 2`,
    `firebolt_gateway_discovery_pending{${label}} 1`,
  ])
    expect(parseDiscovery(`${body()}${row}\n`)).toBeUndefined();
});

test.each(["1e9", "1.5", "-1", "+1", "NaN", "9".repeat(400)])("%s is no count", (value) => {
  const report = `firebolt_gateway_discovery_active 1\nfirebolt_gateway_discovery_rejected_total ${value}\n`;
  expect(parseDiscovery(report)).toMatchObject({ isActive: true, rejected: undefined });
  const endpoints = `firebolt_gateway_discovery_endpoints{engine="a",generation="0"} ${value}\n`;
  expect(parseDiscovery(report + endpoints)).toBeUndefined();
});

test("a megabyte of anything is read at once", () => {
  const rows = `firebolt_gateway_discovery_endpoints{engine="${"a-".repeat(40)}`.repeat(12_000);
  expect(parseDiscovery(`${body()}${rows}\n${rows}`)).toBeUndefined();
});

test("any change of a response gives numbers and names of the known form, or none", () => {
  const text = body();
  fc.assert(
    fc.property(fc.nat(text.length), fc.string({ unit: "binary", maxLength: 20 }), (at, part) => {
      const report = parseDiscovery(text.slice(0, at) + part + text.slice(at));
      for (const engine of [...(report?.generations.keys() ?? []), ...(report?.pending ?? [])])
        expect(engine).toMatch(/^[a-z0-9-]{1,63}$/);
    }),
  );
});
