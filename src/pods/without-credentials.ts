// What a container or the API server wrote, without what looks like a credential: conditions and events are read by more people than
// Secrets and logs are. Pure.

const HIDDEN = "(hidden)";
const NAME = String.raw`[\w.-]*(?:passw(?:or)?d|passphrase|pwd|secret|token|credentials?|(?:api|access|account|private)[-_]?key|pgpass)[\w.-]*`;
/** In quotes, or up to the next blank or separator. */
const VALUE = String.raw`(?:\\?"[^"]*"?|'[^']*'?|[^\s"',;&)}\]]+)`;

const SHAPES: readonly (readonly [RegExp, string])[] = [
  // user:password@host of a URL. A password may hold anything but a blank and a slash.
  [/(:\/\/)[^\s/@]{0,400}@(?=[\w[])/g, `$1${HIDDEN}@`],
  [/\b(Bearer|Basic) +[\w.~+/=-]{6,}/gi, `$1 ${HIDDEN}`],
  // The three parts of a JSON web token.
  [/\beyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/g, HIDDEN],
  [/\bAKIA[0-9A-Z]{16}\b/g, HIDDEN],
  [new RegExp(String.raw`(?<![\w.-])(${NAME}\\?["']?(?: ?= ?|: ?))(?!\(hidden\))${VALUE}`, "gi"), `$1${HIDDEN}`],
];

export function withoutCredentials(text: string): string {
  return SHAPES.reduce((rest, [pattern, by]) => rest.replace(pattern, by), text);
}
