// The figures of an end-to-end run: every scenario leaves its own in a folder, and the end of the run shows all of them as a table and
// as one line of JSON, and keeps that line in a file.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where vitest keeps what it writes about runs. */
const FOLDER = join(import.meta.dirname, "../../../node_modules/.vitest/cluster");
/** Lanes of `npm test` have a cluster each, and a file each: `figures-c1.json`. */
const LANE = process.env["FIREBOLT_TEST_LANE"];
const SUMMARY = join(FOLDER, LANE === undefined ? "figures.json" : `figures-${LANE}.json`);

export type Figures = Readonly<Record<string, number | string>>;

/** A folder for the figures of one run: several runs may share the machine. */
export function openFigures(): string {
  mkdirSync(FOLDER, { recursive: true });
  return mkdtempSync(join(FOLDER, "run-"));
}

export function recordFigures(folder: string, scenario: string, figures: Figures): void {
  writeFileSync(join(folder, `${scenario}.json`), JSON.stringify(figures));
}

export interface Summary {
  readonly json: string;
  readonly table: string;
  readonly file: string;
}

/** Everything that was recorded, with the requests of all scenarios added up. Removes the folder. */
export function summariseFigures(folder: string): Summary {
  const scenarios = Object.fromEntries(
    readdirSync(folder)
      .sort()
      .map((file) => [file.slice(0, -".json".length), readFigures(join(folder, file))]),
  );
  rmSync(folder, { recursive: true });
  const total = (key: string): number =>
    Object.values(scenarios).reduce((sum, figures) => sum + (Number(figures[key]) || 0), 0);
  const totals = { sent: total("sent"), failed: total("failed"), rolls: total("rolls"), kills: total("kills") };
  const json = JSON.stringify({ ...totals, ...scenarios });
  writeFileSync(SUMMARY, `${json}\n`);
  return { json, table: renderTable({ total: totals, ...scenarios }), file: SUMMARY };
}

function readFigures(file: string): Figures {
  const parsed: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (!isFigures(parsed)) throw new Error(`${file} holds no figures`);
  return parsed;
}

const isFigures = (value: unknown): value is Figures =>
  typeof value === "object" &&
  value !== null &&
  Object.values(value).every((one) => typeof one === "number" || typeof one === "string");

function renderTable(scenarios: Readonly<Record<string, Figures>>): string {
  const rows = Object.entries(scenarios).flatMap(([scenario, figures]) =>
    Object.entries(figures).map(([name, value], index) => [index === 0 ? scenario : "", name, String(value)] as const),
  );
  const width = (column: 0 | 1): number => Math.max(...rows.map((row) => row[column].length));
  const [first, second] = [width(0), width(1)];
  return rows.map(([a, b, c]) => `${a.padEnd(first)}  ${b.padEnd(second)}  ${c}`).join("\n");
}
