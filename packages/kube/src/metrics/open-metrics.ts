// Renders a registry in the OpenMetrics format. prom-client's own rendering renames the counters permanently, so that
// the next scrape in the Prometheus format would lack their suffix; this one does not modify the registry.
import type { Registry } from "prom-client";

export const OPEN_METRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";

const COUNTER_SUFFIX = "_total";

export async function renderOpenMetrics(registry: Registry): Promise<string> {
  const families = await registry.getMetricsAsJSON();
  return `${families.flatMap(familyLines).join("\n")}\n# EOF\n`;
}

interface Family {
  readonly name: string;
  readonly help: string;
  /** prom-client declares numbers here and returns strings. */
  readonly type: unknown;
  readonly values: readonly Sample[];
}

interface Sample {
  readonly value: number;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly metricName?: string;
}

function familyLines({ name, help, type, values }: Family): readonly string[] {
  const isCounter = type === "counter";
  const family = isCounter && name.endsWith(COUNTER_SUFFIX) ? name.slice(0, -COUNTER_SUFFIX.length) : name;
  const sampleName = isCounter ? `${family}${COUNTER_SUFFIX}` : name;
  return [
    `# TYPE ${family} ${String(type)}`,
    `# HELP ${family} ${escaped(help)}`,
    ...values.map(
      ({ metricName = sampleName, labels, value }) => `${metricName}${renderLabels(labels)} ${number(value)}`,
    ),
  ];
}

function renderLabels(labels: Sample["labels"]): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(String(value))}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(text: string): string {
  return text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n").replace(/"/g, '\\"');
}

function number(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
}
