// Where code takes a message apart or compares it, read from the syntax tree: `x.message.includes(…)`, `/…/.test(message)`,
// `message === "…"`, also under another name in the same file. A message that is passed to a function is not followed. Messages are for people (docs/adr/0029-messages-are-not-state.md).
import { parseSync } from "vite";

export interface MessageUse {
  readonly line: number;
  readonly text: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** Methods of strings that look inside, and of patterns. Those that make a whole message shorter are not among them. */
const READS: ReadonlySet<string> = new Set(
  "includes startsWith endsWith indexOf lastIndexOf match matchAll search split replace replaceAll slice substring at charAt charCodeAt codePointAt localeCompare".split(
    " ",
  ),
);
/** Methods and functions that compare or look up their arguments. */
const TAKES: ReadonlySet<string> = new Set("test exec has get isDeepStrictEqual is".split(" "));
/** What they return is still the message. */
const KEEPS: ReadonlySet<string> = new Set(
  "trim trimStart trimEnd toLowerCase toUpperCase normalize toString".split(" "),
);
const COMPARISONS: ReadonlySet<string> = new Set(["===", "!==", "==", "!=", "<", ">", "<=", ">=", "in"]);
/** Expressions around a message that change nothing of it. */
const WRAPPERS: ReadonlySet<string> = new Set(
  "ChainExpression ParenthesizedExpression TSAsExpression TSSatisfiesExpression TSNonNullExpression".split(" "),
);

type Aliases = ReadonlySet<string>;

export function messageUses(file: string, source: string): readonly MessageUse[] {
  const uses: MessageUse[] = [];
  const { program } = parseSync(file, source);
  const aliases = aliasesIn(program);
  walk(program, (node) => {
    if (!isUse(node, aliases)) return;
    const line = source.slice(0, node.start).split("\n").length;
    uses.push({ line, text: source.slice(node.start, node.end).replaceAll(/\s+/g, " ") });
  });
  return uses;
}

/** Names that the file gives to messages: `{ message: text }` and `const text = x.message`. Scopes are not told apart. */
function aliasesIn(program: unknown): Aliases {
  const aliases = new Set(["message"]);
  walk(program, (node) => {
    if (node.type === "ObjectPattern")
      for (const property of listOf(node["properties"])) {
        const target = isNode(property) && nameOf(property["key"]) === "message" ? property["value"] : undefined;
        const alias = nameOf(isNode(target) && target.type === "AssignmentPattern" ? target["left"] : target);
        if (alias !== undefined) aliases.add(alias);
      }
    const alias = node.type === "VariableDeclarator" ? nameOf(node["id"]) : undefined;
    if (alias !== undefined && isMessage(node["init"], aliases)) aliases.add(alias);
  });
  return aliases;
}

function isUse(node: Node, aliases: Aliases): boolean {
  const isOne = (value: unknown): boolean => isMessage(value, aliases);
  if (node.type === "BinaryExpression") {
    const [left, right] = [node["left"], node["right"]];
    if (!COMPARISONS.has(String(node["operator"])) || isAbsence(left) || isAbsence(right)) return false;
    return isOne(left) || isOne(right);
  }
  if (node.type === "SwitchStatement") return isOne(node["discriminant"]);
  if (node.type === "MemberExpression") return node["computed"] === true && isOne(node["property"]);
  if (node.type !== "CallExpression") return false;
  const callee = node["callee"];
  if (!isNode(callee)) return false;
  const name = nameOf(callee.type === "MemberExpression" ? callee["property"] : callee) ?? "";
  const list = listOf(node["arguments"]);
  if (TAKES.has(name)) return list.some(isOne);
  return callee.type === "MemberExpression" && READS.has(name) && (isOne(callee["object"]) || isOne(list[0]));
}

/** `x.message`, `x["message"]`, `message` or an alias, also behind `??`, `?.`, casts, templates, `String()` and `trim()`. */
function isMessage(value: unknown, aliases: Aliases): boolean {
  if (!isNode(value)) return false;
  const inner = (one: unknown): boolean => isMessage(one, aliases);
  if (value.type === "Identifier") return aliases.has(String(value["name"]));
  if (value.type === "MemberExpression")
    return value["computed"] === true
      ? isNode(value["property"]) && value["property"]["value"] === "message"
      : nameOf(value["property"]) === "message";
  if (value.type === "LogicalExpression") return inner(value["left"]);
  if (WRAPPERS.has(value.type)) return inner(value["expression"]);
  if (value.type === "TemplateLiteral")
    return listOf(value["expressions"]).length === 1 && listOf(value["expressions"]).some(inner);
  if (value.type !== "CallExpression" || !isNode(value["callee"])) return false;
  const { callee } = value;
  if (nameOf(callee) === "String") return inner(listOf(value["arguments"])[0]);
  return (
    isNode(callee) &&
    callee.type === "MemberExpression" &&
    KEEPS.has(nameOf(callee["property"]) ?? "") &&
    inner(callee["object"])
  );
}

/** Whether there is a message at all may be compared. */
function isAbsence(value: unknown): boolean {
  return isNode(value) && (nameOf(value) === "undefined" || value["value"] === "" || value["value"] === null);
}

const nameOf = (value: unknown): string | undefined =>
  isNode(value) && value.type === "Identifier" ? String(value["name"]) : undefined;

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" && "start" in value;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function walk(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) for (const inner of value) walk(inner, visit);
  if (!isNode(value)) return;
  visit(value);
  for (const inner of Object.values(value)) if (typeof inner === "object") walk(inner, visit);
}
