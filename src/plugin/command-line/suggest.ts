// Suggestions for mistyped words. Pure.

/** Undefined when no known word is similar. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3));
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of known) {
    const distance = name.startsWith(word) && word.length > 1 ? 0 : editDistance(word, name);
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { name, distance };
  }
  return best?.name;
}

/** ` (did you mean "x"?)`, or nothing. */
export function suggestion(word: string, known: readonly string[], prefix = ""): string {
  const near = nearest(word, known);
  return near === undefined ? "" : ` (did you mean ${JSON.stringify(`${prefix}${near}`)}?)`;
}

/** Insertions, deletions and replacements; two neighbours in the wrong order count once. */
export function editDistance(a: string, b: string): number {
  let [before, row]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? 0) + 1 : replaced;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced, swapped));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
