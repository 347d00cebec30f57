// Output of the plugin made comparable: what differs from run to run (ages, times, generated names, nodes, column widths that follow
// from them) is replaced, everything else must be equal.

const REPLACED: readonly (readonly [RegExp, string])[] = [
  // The order of several events in the same second is undefined.
  [/^(AGE +TYPE +REASON.*\n)(?:.+\n)+/gm, "$1<events>\n"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "<time>"],
  [/\b\d{8}-\d{6}\b/g, "<stamp>"],
  [/\b(node)-\d\b/g, "$1-N"],
  [/-[a-z0-9]{8,10}-[a-z0-9]{5}\b/g, "-<hash>"],
  [/\b(\d+d)?(\d+h)?(\d+m)?\d+[smhd]\b/g, "<age>"],
  [/\b[0-9A-HJKMNP-TV-Z]{26}\b/g, "<id>"],
  [/release-\d[\w.-]+/g, "<release>"],
  [/\d+ objects, \d+ events, \d+ logs/g, "<counts>"],
  [/(localhost):\d+/g, "$1:<port>"],
  [/ {2,}/g, "  "],
  [/ +$/gm, ""],
];

export function comparable(text: string): string {
  return REPLACED.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);
}
