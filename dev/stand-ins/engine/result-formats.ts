// The bodies of successful queries, in the formats that clients request with `output_format`.
import type { Column } from "./sql-engine.ts";

export interface QueryResult {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly unknown[])[];
}

export interface QueryIdentity {
  readonly query_id: string;
  readonly query_label: string;
  readonly request_id: string;
}

export interface ResultBody {
  readonly contentType: string;
  readonly text: string;
}

interface Finished extends QueryResult {
  readonly query: QueryIdentity;
  readonly elapsedSeconds: number;
  /** About the request, for tests; only in the formats that are one document. */
  readonly request: object;
}

export const JSON_TYPE = "application/json";
/** Rows per line of a streamed result. */
const ROWS_PER_LINE = 1_000;

const FORMATS = {
  JSON_Compact: (result) => document(result, result.rows),
  JSON: (result) => {
    const named = (row: readonly unknown[]) =>
      Object.fromEntries(result.columns.map(({ name }, at) => [name, row[at]]));
    return document(result, result.rows.map(named));
  },
  JSONLines_Compact: lines,
} as const satisfies Record<string, (result: Finished) => ResultBody>;

export type OutputFormat = keyof typeof FORMATS;
export const DEFAULT_FORMAT: OutputFormat = "JSON_Compact";
export const OUTPUT_FORMATS = Object.keys(FORMATS);
export const isOutputFormat = (name: string): name is OutputFormat => Object.hasOwn(FORMATS, name);

export const formatResult = (format: OutputFormat, result: Finished): ResultBody => FORMATS[format](result);

function document({ columns, rows, query, request, ...finished }: Finished, data: readonly unknown[]): ResultBody {
  const statistics = statisticsOf(finished.elapsedSeconds, rows.length);
  const body = { meta: columns, data, rows: rows.length, query, statistics, ...request };
  return { contentType: JSON_TYPE, text: JSON.stringify(body) };
}

/** One document per line: the columns, the rows in parts, and how it ended. */
function lines({ columns, rows, query, elapsedSeconds }: Finished): ResultBody {
  const parts: object[] = [{ message_type: "START", result_columns: columns, ...query }];
  for (let at = 0; at < rows.length; at += ROWS_PER_LINE)
    parts.push({ message_type: "DATA", data: rows.slice(at, at + ROWS_PER_LINE) });
  parts.push({ message_type: "FINISH_SUCCESSFULLY", statistics: statisticsOf(elapsedSeconds, rows.length) });
  return { contentType: JSON_TYPE, text: parts.map((part) => `${JSON.stringify(part)}\n`).join("") };
}

function statisticsOf(elapsed: number, resultRows: number) {
  return {
    elapsed,
    rows_read: 0,
    bytes_read: 0,
    scanned_bytes_cache: 0,
    scanned_bytes_storage: 0,
    result_rows: resultRows,
  };
}
