// README.md of the operator's chart: a table of every value with its default, from the comments (`# -- …`) in values.yaml. A value
// without a comment is a defect and stops the generator.
import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from "yaml";

export const CHART_VALUES = "charts/firebolt-operator/values.yaml";
export const CHART_README = "charts/firebolt-operator/README.md";

interface Row {
  readonly name: string;
  readonly fallback: string;
  readonly text: string;
}

export function renderChartReadme(values: string): string {
  const { contents } = parseDocument(values);
  if (!isMap(contents)) throw new Error(`${CHART_VALUES} is not a map`);
  const rows = rowsOf(contents, "", contents.commentBefore ?? "").map(
    ({ name, fallback, text }) => `| \`${name}\` | ${fallback} | ${text} |`,
  );
  return [
    "# firebolt-operator",
    "",
    "Helm chart of the Firebolt operator. See [install](../../docs/install.md) and [upgrade](../../docs/upgrade.md).",
    "",
    "`npm run generate` creates this table from the comments in `values.yaml`.",
    "",
    "| Value | Default | Meaning |",
    "| --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}

function rowsOf(map: YAMLMap, prefix: string, first: string): readonly Row[] {
  return map.items.flatMap((pair, index) => {
    const name = `${prefix}${keyOf(pair)}`;
    // The comment above the first key of a map belongs to the map in the parser's eyes.
    const comment =
      (isScalar(pair.key) ? pair.key.commentBefore : undefined) ?? (index === 0 ? first : undefined) ?? "";
    const text = textOf(comment);
    const { value } = pair;
    if (text !== undefined) return [{ name, fallback: fallbackOf(value), text }];
    if (isMap(value) && value.items.length > 0) return rowsOf(value, `${name}.`, value.commentBefore ?? "");
    throw new Error(`${CHART_VALUES}: ${name} has no comment that begins with "# -- "`);
  });
}

function keyOf({ key }: Pair): string {
  if (!isScalar(key) || typeof key.value !== "string")
    throw new Error(`${CHART_VALUES} has a key that is not a string`);
  return key.value;
}

/** What follows `-- ` in the comment right above the key. */
function textOf(comment: string): string | undefined {
  const lines = comment.split("\n").map((line) => line.trim());
  const start = lines.findLastIndex((line) => line.startsWith("-- "));
  if (start === -1) return undefined;
  return lines.slice(start).join(" ").slice("-- ".length).replaceAll("|", "\\|").trim();
}

function fallbackOf(value: unknown): string {
  const plain: unknown = isScalar(value) || isMap(value) ? value.toJSON() : JSON.parse(JSON.stringify(value));
  return `\`${JSON.stringify(plain)}\``;
}
