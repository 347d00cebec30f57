// The tables of src/api are the only place where their words are spelled: every row is used, no other file lists them
// a second time, and charts, examples and documentation name nothing that the tables do not have.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ENGINE_CONTRACT } from "./engine-contract.ts";
import { CLASS_EVENTS, ENGINE_EVENTS, INSTANCE_EVENTS, LEASE_EVENTS } from "./events.ts";
import { AUTO_STOP_REASONS, ENGINE_PHASES } from "./phases.ts";
import {
  CLASS_REASONS,
  ENGINE_REASONS,
  FAILED_ENGINE_REASONS,
  INSTANCE_REASONS,
  type ReasonRow,
  remedyFor,
} from "./reasons.ts";
import {
  DISCOVERY_SERIES,
  DISCOVERY_SERIES_PREFIX,
  ENGINE_HEADER,
  ENGINE_LABEL_PATTERN,
  LUA_CONSTANTS,
  STATIC_CLUSTERS,
  WAKE_CHANGING,
  WAKE_DECISIONS,
  WAKE_HEADERS,
  WAKE_PATHS,
  WAKE_PORTS,
  WAKE_SERIES,
  WAKE_SERIES_PREFIX,
} from "./wake-protocol.ts";

const ROOT = join(import.meta.dirname, "../..");

interface Source {
  readonly file: string;
  readonly text: string;
}

const sources = (patterns: readonly string[], left: readonly string[] = []): readonly Source[] =>
  globSync([...patterns], { cwd: ROOT })
    .filter((file) => !/\.test\.ts$|generated|-lua\.ts$|\.golden\./.test(file) && !left.includes(file))
    .map((file) => ({ file, text: readFileSync(join(ROOT, file), "utf8") }));

const TABLES = [
  "src/api/engine-contract.ts",
  "src/api/events.ts",
  "src/api/reasons.ts",
  "src/api/wake-protocol.ts",
] as const;
const PRODUCT = sources(["src/**/*.ts", "src/**/*.lua", "packages/*/src/**/*.ts"], TABLES);
const ALL = [...PRODUCT, ...sources(["dev/**/*.ts", "test/**/*.ts", "bench/**/*.ts"])];
const OUTSIDE = sources(["charts/**/*.{yaml,tpl,json}", "examples/**/*.yaml", "docs/**/*.md", "README.md"]);

/** Code without comments and the paths of imports. */
const codeOf = ({ text }: Source): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*|(?<=^|\s)--[^\n]*|from "[^"]*"/g, "");
const filesWith = (files: readonly Source[], pattern: RegExp): readonly string[] =>
  files.filter((source) => pattern.test(codeOf(source))).map(({ file }) => file);
const escaped = (word: string): string => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
const literal = (word: string): RegExp => new RegExp(`["'\`]${escaped(word)}["'\`]`);
const spelled = (word: string): RegExp => new RegExp(`(?<![\\w-])${escaped(word)}(?![\\w-])`);

const REASON_TABLES = [ENGINE_REASONS, INSTANCE_REASONS, CLASS_REASONS].flatMap((kind) => Object.values(kind));
const REASONS = [...new Set(REASON_TABLES.flatMap((rows) => Object.keys(rows)))];
const EVENT_TABLES = [ENGINE_EVENTS, INSTANCE_EVENTS, CLASS_EVENTS, LEASE_EVENTS];
const EVENTS = [...new Set(EVENT_TABLES.flatMap((rows) => Object.keys(rows)))];
const CONTROLLERS = PRODUCT.filter(({ file }) => /^src\/(?:engine|engineclass|instance|metrics)\//.test(file));

describe("condition reasons", () => {
  test.each(REASONS)("%s is used", (reason) => {
    expect(filesWith(PRODUCT, literal(reason))).not.toEqual([]);
  });

  test("controllers set and compare no other", () => {
    const known = new Set<string>([...REASONS, ...EVENTS, ...AUTO_STOP_REASONS]);
    const found = CONTROLLERS.flatMap(({ file, text }) =>
      [...text.matchAll(/\b\w*[rR]eason(?:: | === | !== )"([A-Z]\w+)"/g)].map(([, word = ""]) => ({ file, word })),
    );
    expect(found.length).toBeGreaterThan(20);
    expect(found.filter(({ word }) => !known.has(word))).toEqual([]);
  });

  test("no other file lists them", () => {
    const word = `"(?:${REASONS.join("|")})"`;
    expect(filesWith(ALL, new RegExp(`${word}\\s*[,|]\\s*${word}\\s*[,|]\\s*${word}`))).toEqual([]);
  });

  test("health checks of other tools fail for every stuck reason that is the engine's own", () => {
    const page = OUTSIDE.find(({ file }) => file === "docs/adopt/gitops.md")?.text ?? "";
    const wordsIn = (part: RegExp, word: RegExp) =>
      [...(part.exec(page)?.[1] ?? "").matchAll(word)].map(([, found = ""]) => found).toSorted();
    const stuck = Object.entries<ReasonRow>(ENGINE_REASONS.Ready).flatMap(([reason, { isStuck }]) =>
      isStuck === true ? [reason] : [],
    );
    // Another object, or the pods of the old generation, may recover by themselves.
    const others = new Set(["InstanceNotReady", "DrainCheckFailing"]);
    const own = stuck.filter((reason) => !others.has(reason)).toSorted();
    expect(wordsIn(/c\.reason in \[([^\]]*)\]/, /'(\w+)'/g)).toEqual(own);
    expect(wordsIn(/local rejected = \{([^}]*)\}/, /(\w+) = true/g)).toEqual([...own, "PodsNotReady"].toSorted());
    expect(FAILED_ENGINE_REASONS.toSorted()).toEqual(own);
  });

  test("a stuck one has a next step, and a true one needs none", () => {
    const rows: readonly ReasonRow[] = REASON_TABLES.flatMap((table) => Object.values(table));
    const incomplete = rows.filter(({ status, isStuck, remedy }) => isStuck === true && (status === "True" || !remedy));
    expect(incomplete).toEqual([]);
  });

  test("a next step names its object", () => {
    const remedy = remedyFor(INSTANCE_REASONS.MetadataReady.CatalogueLost, { namespace: "ns", name: "i" });
    expect(remedy).toMatch(/kubectl describe fireboltinstance i -n ns$/);
  });

  test("every phase of an engine has a reason", () => {
    const rows: readonly ReasonRow[] = Object.values(ENGINE_REASONS.Ready);
    const phases = rows.flatMap((row) => (Array.isArray(row.phases) ? row.phases : []));
    expect(ENGINE_PHASES.filter((phase) => !phases.includes(phase))).toEqual([]);
  });
});

describe("event reasons", () => {
  test.each(EVENTS)("%s is recorded", (reason) => {
    expect(filesWith(PRODUCT, literal(reason))).not.toEqual([]);
  });

  test("have the type of their row", () => {
    const rows: Readonly<Record<string, { readonly type: string; readonly warnsFor?: string }>> = Object.assign(
      {},
      ...EVENT_TABLES,
    );
    const found = CONTROLLERS.flatMap(({ text }) => [
      ...[...text.matchAll(/\bwarning\("(\w+)"/g)].map(([, reason = ""]) => ({ reason, type: "Warning" })),
      ...[...text.matchAll(/\brollout\(\s*"(\w+)"/g)].map(([, reason = ""]) => ({ reason, type: "Normal" })),
      ...[...text.matchAll(/type: "(Normal|Warning)",\s*reason: "(\w+)"/g)].map(([, type = "", reason = ""]) => ({
        reason,
        type,
      })),
    ]);
    expect(found.length).toBeGreaterThan(20);
    expect(found.filter(({ reason, type }) => rows[reason]?.type !== type)).toEqual([]);
  });
});

describe("wake protocol", () => {
  const words = [
    ...Object.values(WAKE_HEADERS),
    ENGINE_HEADER,
    STATIC_CLUSTERS.wakeAgent,
    STATIC_CLUSTERS.discovery,
    STATIC_CLUSTERS.admin,
    ...Object.values(WAKE_CHANGING),
    ...Object.values(WAKE_SERIES),
    WAKE_SERIES_PREFIX,
    ...Object.values(DISCOVERY_SERIES),
    DISCOVERY_SERIES_PREFIX,
    ENGINE_LABEL_PATTERN,
  ];
  test.each(words)("%s is spelled once", (word) => {
    expect(filesWith(PRODUCT, new RegExp(`["'\`][^"'\`\\n]*${spelled(word).source}`))).toEqual([]);
  });

  test.each([WAKE_PATHS.check, WAKE_PATHS.hold, WAKE_PATHS.demand, WAKE_PATHS.discovery])(
    "the path %s is spelled once",
    (path) => {
      expect(filesWith(PRODUCT, literal(path))).toEqual([]);
    },
  );

  test.each(Object.entries(WAKE_PORTS))("port %s (%i) is spelled once", (_, port) => {
    expect(filesWith(PRODUCT, spelled(String(port)))).toEqual([]);
  });

  test.each(Object.keys(WAKE_DECISIONS))("decision %s is made by the agent", (decision) => {
    const agent = PRODUCT.filter(({ file }) => /wake/.test(file));
    expect(filesWith(agent, literal(decision))).not.toEqual([]);
  });

  test("the agent responds with the status of the decision", () => {
    const agent = PRODUCT.filter(({ file }) => /wake/.test(file));
    const found = agent.flatMap(({ text }) =>
      [...text.matchAll(/status: (\d{3}), decision: ([^,}]+)/g)].flatMap(([, status = "", decisions = ""]) =>
        [...decisions.matchAll(/(?:^|[?:] )"(\w+)"/g)].map(([, decision = ""]) => ({ decision, status })),
      ),
    );
    expect(found.length).toBeGreaterThan(6);
    const table: Readonly<Record<string, number>> = WAKE_DECISIONS;
    expect(found.filter(({ decision, status }) => table[decision] !== Number(status))).toEqual([]);
  });

  test("charts and pages name no other series, and one page names all", () => {
    const known = new Set<string>(Object.values(WAKE_SERIES));
    const named = OUTSIDE.flatMap(({ text }) =>
      [...text.matchAll(/firebolt_gateway_wake_[a-z_]+/g)].map(([name]) => name),
    );
    expect(named.filter((name) => !known.has(name))).toEqual([]);
    expect([...known].filter((name) => !named.includes(name))).toEqual([]);
  });

  test("pages name no other decision", () => {
    const page = OUTSIDE.find(({ file }) => file === "docs/auto-stop-and-wake.md")?.text ?? "";
    const named = [...page.matchAll(/\| \d{3} `(\w+)` \|/g)].map(([, decision = ""]) => decision);
    expect(named.length).toBeGreaterThan(6);
    expect(named.filter((decision) => !Object.hasOwn(WAKE_DECISIONS, decision))).toEqual([]);
  });

  test("constants for Lua are all words of the protocol", () => {
    expect(Object.values(LUA_CONSTANTS).filter((value) => value === "")).toEqual([]);
  });
});

describe("engine contract", () => {
  const { gauges, program, mounts, tlsFolder, env, webVolume, portNames, endpoints, volumes, ports } = ENGINE_CONTRACT;
  test.each([
    ...Object.values(gauges),
    program,
    ...Object.values(mounts),
    tlsFolder,
    ...Object.values(env),
    webVolume,
    volumes.config,
    portNames.query,
    endpoints.live,
    endpoints.ready,
  ])("%s is spelled once", (word) => {
    const files = [...PRODUCT, ...sources(["dev/stand-ins/**/*.ts", "dev/images/**/*.ts", "dev/playground/**/*.ts"])];
    expect(filesWith(files, new RegExp(`["'\`][^"'\`\\n]*${spelled(word).source}`))).toEqual([]);
  });

  test.each(Object.values(gauges))("the gauge %s is spelled in no other source, fixture or benchmark", (gauge) => {
    expect(filesWith(ALL, spelled(gauge))).toEqual([]);
  });

  test.each([ports.query, ports.health])("port %i is spelled once", (port) => {
    const files = [...PRODUCT, ...sources(["dev/stand-ins/**/*.ts", "dev/images/**/*.ts", "dev/playground/**/*.ts"])];
    expect(filesWith(files, spelled(String(port)))).toEqual([]);
  });

  test("charts and pages name no other gauge, and dashboards name both", () => {
    const known = new Set<string>(Object.values(gauges));
    const named = OUTSIDE.flatMap(({ file, text }) =>
      [...text.matchAll(/firebolt_(?!engine_|gateway_|instance_|operator_)\w*_queries/g)].map(([name]) => ({
        file,
        name,
      })),
    );
    expect(named.filter(({ name }) => !known.has(name))).toEqual([]);
    const shown = named.filter(({ file }) => file.startsWith("charts/")).map(({ name }) => name);
    expect([...known].filter((name) => !shown.includes(name))).toEqual([]);
  });

  test("the page of the contract names ports, gauges and paths", () => {
    const page = OUTSIDE.find(({ file }) => file === "docs/stand-ins.md")?.text ?? "";
    const words = [...Object.values(gauges), ...Object.values(ports).map(String), program, mounts.data];
    expect(words.filter((word) => !spelled(word).test(page))).toEqual([]);
  });

  test("ports of network policies are those of the tables", () => {
    const policies = OUTSIDE.filter(({ file }) => /network-policies|availability/.test(file));
    const known = new Set<number>([...Object.values(ports), ...Object.values(WAKE_PORTS)]);
    const named = policies.flatMap(({ text }) =>
      [...text.matchAll(/port: (3473|8122|9090|99\d\d)\b/g)].map(([, port]) => Number(port)),
    );
    expect(named.length).toBeGreaterThan(4);
    expect(named.filter((port) => !known.has(port))).toEqual([]);
  });
});
