// Tables of the documentation that are written from the vocabularies in src/api. A page marks the place of a table
// with two comments; everything between them is replaced. Pure: the caller reads and writes files.
import { CLASS_EVENTS, ENGINE_EVENTS, type EventRow, INSTANCE_EVENTS, LEASE_EVENTS } from "../../src/api/events.ts";
import { CLASS_REASONS, ENGINE_REASONS, INSTANCE_REASONS, type ReasonRow } from "../../src/api/reasons.ts";

/** Pages with generated tables. */
export const TABLE_PAGES = ["docs/concepts.md", "docs/monitoring.md"] as const;

type Cells = readonly string[];

const TABLES: Readonly<Record<string, () => readonly Cells[]>> = {
  "engine reasons": () => [
    ...reasonTable("Engine: reason of `Ready`", ENGINE_REASONS.Ready),
    [
      "any other",
      "False",
      "a warning of the StatefulSet, with the reason that Kubernetes gave it: `FailedCreate` and the like",
      "",
    ],
  ],
  "component reasons": () => {
    const { MetadataReady, GatewayReady } = INSTANCE_REASONS;
    const [head = [], ...rows] = reasonTable("Instance: reason", MetadataReady);
    const both = Object.keys(GatewayReady).map(code);
    const conditions = (reason: string): string =>
      both.includes(reason) ? "`MetadataReady`, `GatewayReady`" : "`MetadataReady`";
    return [insert(head, "Condition"), ...rows.map((row) => insert(row, conditions(row[0] ?? "")))];
  },
  "instance reasons": () => {
    const [head = [], first = [], ...rest] = reasonTable("Instance: reason of `Ready`", INSTANCE_REASONS.Ready);
    const component = [
      "that of `MetadataReady` or `GatewayReady`",
      "False",
      "the first of the two that is not ready",
      "",
    ];
    return [head, first, component, ...rest];
  },
  "class reasons": () => reasonTable("Class: reason of `Ready`", CLASS_REASONS.Ready),
  events: () => [
    ["Object", "Reason", "Type", "Note"],
    ...eventRows("engine", ENGINE_EVENTS),
    ...eventRows("instance", INSTANCE_EVENTS),
    ...eventRows("class", CLASS_EVENTS),
    ...eventRows("lease", LEASE_EVENTS),
  ],
};

const PLACE = /(<!-- table: ([a-z ]+),[^\n]*-->\n)[\s\S]*?(<!-- end of table -->)/g;

/** The page with its tables as they are now. */
export function fillTables(page: string, text: string): string {
  let count = 0;
  const filled = text.replaceAll(PLACE, (_, begin: string, words: string, end: string) => {
    const table = TABLES[words.trim()];
    if (table === undefined) throw new Error(`${page}: there is no table "${words.trim()}"`);
    count += 1;
    return `${begin}${rendered(table())}${end}`;
  });
  if (count === 0) throw new Error(`${page} has no place for a generated table`);
  return filled;
}

function reasonTable(title: string, reasons: Readonly<Record<string, ReasonRow>>): readonly Cells[] {
  const rows = Object.entries(reasons).map(([reason, { status, meaning, remedy = "" }]) => [
    code(reason),
    status,
    meaning,
    remedy,
  ]);
  return [[title, "Status", "Meaning", "Next step"], ...rows];
}

function eventRows(object: string, events: Readonly<Record<string, EventRow>>): readonly Cells[] {
  return Object.entries(events).map(([reason, { type, warnsFor, note }], index) => [
    index === 0 ? object : "",
    code(reason),
    warnsFor === undefined ? type : `${type}, or Warning for ${warnsFor}`,
    note,
  ]);
}

const insert = ([first = "", ...rest]: Cells, cell: string): Cells => [first, cell, ...rest];
const code = (word: string): string => `\`${word}\``;

function rendered([head = [], ...rows]: readonly Cells[]): string {
  const line = (cells: Cells): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`.replaceAll("|  |", "| |");
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("");
}
