// One violation of a rule and its message, in the form of Kubernetes' own field errors, so that admission and
// conditions read alike.

export type ViolationType =
  | "Required value"
  | "Invalid value"
  | "Forbidden"
  | "Not found"
  | "Duplicate value"
  | "Internal error";

export interface Violation {
  /** JSON names, list items by index, map entries by key: `spec.template.metadata.labels[firebolt.io/x]`. */
  readonly path: string;
  readonly type: ViolationType;
  /** The offending value; printed only for the types that show one. */
  readonly value?: unknown;
  /** What is wrong and what to do. Empty when the type is enough. */
  readonly detail: string;
}

const SHOWS_VALUE: Readonly<Record<ViolationType, boolean>> = {
  "Required value": false,
  "Invalid value": true,
  Forbidden: false,
  "Not found": true,
  "Duplicate value": true,
  "Internal error": false,
};

/** `<path>: <type>: <value>: <detail>` */
export function violationText({ path, type, value, detail }: Violation): string {
  const shown = SHOWS_VALUE[type] ? `: ${valueText(value)}` : "";
  return `${path}: ${type}${shown}${detail === "" ? "" : `: ${detail}`}`;
}

/** One violation bare, several as `[a, b]`, without duplicates. Empty for none. */
export function violationsText(violations: readonly Violation[]): string {
  const texts = [...new Set(violations.map(violationText))];
  return texts.length > 1 ? `[${texts.join(", ")}]` : (texts[0] ?? "");
}

/** Strings quoted, everything else as JSON. */
function valueText(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}
