// Values of a chart, as data. Pure.

export type Values = Readonly<Record<string, unknown>>;

/** Objects merge, everything else is replaced. */
export function mergeValues(base: Values, over: Values = {}): Values {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key];
    merged[key] = isValues(below) && isValues(value) ? mergeValues(below, value) : value;
  }
  return merged;
}

const isValues = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);
