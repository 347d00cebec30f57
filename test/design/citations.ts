// Where a source or a page cites a rule of docs/design, and where it cites something that is not in the repository. Works on text alone, so
// that each form can be tried in a test.

export interface Citation {
  readonly name: string;
  readonly line: number;
}

const NAME = "[a-z0-9]+(?:-[a-z0-9]+)*";
/** A placeholder of a test table may stand for a name. */
const CITED = `(?:${NAME}|%s|\\$[a-zA-Z]+)`;
const LIST = new RegExp(`^(?<list>${CITED}(?:, ${CITED})*): `);
const STRING = /(["'`])((?:\\.|(?!\1)[^\n])*)\1/g;
/** What stands in front of the text of a test: its call, its place in a table, or the message of an assertion. */
const TITLED = /(?:\b(?:test|describe|it)(?:\.\w+)*\(\s*|\)\(\s*|^\s*|\[\s*|\bname: |, |\b(?:fail|push|unit)\(\s*)$/;

/**
 * Names in front of a test's title, of a label in its table or of the message of an assertion: `a-name, another-name: what happens`. One
 * word alone is a citation only if there is such a rule; a word with a dash always is, so that a misspelt one is found.
 */
export function titlesCite(text: string, isDefined: (name: string) => boolean): readonly Citation[] {
  return text.split("\n").flatMap((line, at) =>
    [...line.matchAll(STRING)].flatMap(({ 2: body = "", index }) => {
      const list = LIST.exec(body)?.groups?.["list"];
      if (list === undefined || !TITLED.test(line.slice(0, index))) return [];
      const names = list.split(", ").filter((name) => /^[a-z]/.test(name));
      const isCitation = names.some((name) => name.includes("-") || isDefined(name));
      return isCitation ? names.map((name) => ({ name, line: at + 1 })) : [];
    }),
  );
}

/** `(design: a-name, another-name)` in a comment. */
export function commentsCite(text: string): readonly Citation[] {
  return text
    .split("\n")
    .flatMap((line, at) =>
      [...line.matchAll(/\(design: (?<list>[^()]*)\)/g)].flatMap(({ groups }) =>
        (groups?.["list"] ?? "").split(", ").map((name) => ({ name, line: at + 1 })),
      ),
    );
}

export interface PageCitation extends Citation {
  readonly target: string;
}

/** A link to a page of docs/design whose text is a name in backticks. */
export function linksCite(text: string): readonly PageCitation[] {
  return text.split("\n").flatMap((line, at) =>
    [...line.matchAll(/\[`(?<name>[a-z0-9-]+)`\]\((?<target>[^()\s]+)\)/g)].map(({ groups }) => ({
      name: groups?.["name"] ?? "",
      target: groups?.["target"] ?? "",
      line: at + 1,
    })),
  );
}

/** Links to a heading of the documentation in a source. */
export function headingsIn(text: string): readonly string[] {
  return [...text.matchAll(/\bdocs\/[a-z0-9/-]+\.md(?:#[a-z0-9-]+)?/g)].map(([target]) => target);
}

/** What stands in front of a name that is a whole string: the step of a decision, a row or a list of names, or a violation. */
const NAMED = /(?:\bstep(?:: |\)\.toBe\()|^\s*\[?|\bnew Violation\()$/;

/**
 * Whether a test or a table of the model cites the name: in front of a title, as the step of a decision, as the first of a row or of a line,
 * or as a violation. The name of a namespace or of any other value is no citation.
 */
export function cites(text: string, name: string): boolean {
  return text.split("\n").some((line) =>
    [...line.matchAll(STRING)].some(({ 2: body = "", index }) => {
      const before = line.slice(0, index);
      if (body === name) return NAMED.test(before);
      return TITLED.test(before) && LIST.exec(body)?.groups?.["list"]?.split(", ").includes(name) === true;
    }),
  );
}

/** Numbers of documents outside the repository, and names of such documents. */
const OUTSIDE: readonly RegExp[] = [
  // A letter and a number: the row of a table. Amazon's object storage is none.
  /(?<![\w/.#-])(?!S3\b(?!:))[TISDBGO]\d{1,2}(?![\w/])/,
  /(?<!RFC \d{3,5} )§/,
  /\b[Rr]uling D?\d/,
  /\b(?:behaviour|objects|operations|api) (?:page|specification)\b/,
  /\b(?:behaviour|operations)\.md\b/,
  /\b(?:its|the|behaviour) specification\b(?! says that a relative path)/,
  /\bAPI contract\b/,
];

export function outsideNumbers(text: string): readonly Citation[] {
  return text.split("\n").flatMap((line, at) => {
    const found = OUTSIDE.map((pattern) => pattern.exec(line)?.[0]).find((match) => match !== undefined);
    return found === undefined ? [] : [{ name: found, line: at + 1 }];
  });
}
