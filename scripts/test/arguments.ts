// Parses the counts of lanes on the command line of the suite.

export interface CountOptions {
  /** The flag without its dashes. */
  readonly name: string;
  /** The count without the flag. */
  readonly usual: number;
  /** With fewer lanes the suite would silently skip tests. */
  readonly least: number;
}

export function countOf(text: string | undefined, { name, usual, least }: CountOptions): number {
  if (text === undefined) return usual;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= least) return count;
  throw new Error(`--${name}=${text}: a number of lanes is expected, ${least} or more, e.g. --${name}=2`);
}
