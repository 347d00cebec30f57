// Plants random secrets in random places of everything that a bundle is made of, written as each format writes them,
// and looks for them in the archive. A part of a secret counts as much as the whole.
import type { KubeObject } from "@firebolt-operator/kube";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { assembleBundle, type BundleContent } from "./assemble.ts";
import { createScrubber } from "./scrub.ts";
import { createTar } from "./tar.ts";

/** Parts that nothing else contains, with what is awkward between them. */
const part = fc.stringMatching(/^zq[A-Za-z0-9]{8}qz$/);
const AWKWARD = [
  '"',
  "'",
  "\\",
  "''",
  '\\"',
  " ",
  "=",
  ":",
  ",",
  ";",
  "&",
  "%",
  "@",
  "/",
  "#",
  "(",
  ")",
  "{",
  "}",
  "[",
  "]",
  "<",
  ">",
  "+",
  "$",
  "--",
  "?",
  "!",
];
interface Planted {
  readonly parts: readonly string[];
  readonly value: string;
}
const plantedWith = (separators: readonly string[]): fc.Arbitrary<Planted> =>
  fc.array(fc.tuple(part, fc.constantFrom(...separators)), { minLength: 1, maxLength: 3 }).map((pairs) => ({
    parts: pairs.map(([text]) => text),
    value: pairs.map(([text, separator], i) => (i === pairs.length - 1 ? text : text + separator)).join(""),
  }));
const anything = plantedWith(AWKWARD);
/** What a shell or a header takes without quotes. */
const word = plantedWith(["-", "_", ".", "/", "+", "=", "%", "@", "~"]);
const phrase = plantedWith(["-", " ", "/", "+", "=", ";"]);

const secretName = fc.constantFrom(
  "password",
  "PASSWORD",
  "db_password",
  "passwordHash",
  "AWS_SECRET_KEY",
  "aws_secret_access_key",
  "clientSecret",
  "client_secret_key",
  "token",
  "accessToken",
  "refresh_token_value",
  "api-key",
  "X-Api-Key",
  "AccountKey",
  "x-amz-signature",
  "signature",
  "private.key",
  "userPass",
  "pwd",
);

const sqlText = (value: string): string => `'${value.replaceAll("'", "''")}'`;
const shellText = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;

interface Form {
  readonly name: string;
  readonly secrets: fc.Arbitrary<Planted>;
  readonly write: (name: string, value: string) => string;
}

/** How a name and its value stand in a line of text. */
const NAMED: readonly Form[] = [
  {
    name: "JSON",
    secrets: anything,
    write: (name, value) => JSON.stringify({ level: "info", [name]: value, rows: 3 }),
  },
  {
    name: "JSON in JSON",
    secrets: anything,
    write: (name, value) => JSON.stringify({ msg: `got ${JSON.stringify({ [name]: value })}`, n: 1 }),
  },
  {
    name: "JSON in JSON in JSON",
    secrets: anything,
    write: (name, value) => JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ c: 1, [name]: value }) }) }),
  },
  { name: "JSON header", secrets: anything, write: (name, value) => JSON.stringify({ headers: [{ name, value }] }) },
  {
    name: "JSON arguments",
    secrets: anything,
    write: (name, value) => JSON.stringify({ args: [`--${name}`, value, "--verbose"] }),
  },
  { name: "YAML", secrets: anything, write: (name, value) => stringify({ user: "bob", [name]: value, port: 1 }) },
  { name: "YAML in quotes", secrets: anything, write: (name, value) => `  ${name}: ${JSON.stringify(value)} # set` },
  { name: "environment", secrets: phrase, write: (name, value) => `${name.replaceAll(/[-.]/g, "_")}=${value}` },
  {
    name: "environment in quotes",
    secrets: anything,
    write: (name, value) => `export ${name.replaceAll(/[-.]/g, "_")}=${JSON.stringify(value)}`,
  },
  { name: "flag", secrets: word, write: (name, value) => `starting tool --${name} ${value} --level 3` },
  { name: "flag with =", secrets: word, write: (name, value) => `starting tool --${name}=${value} --level 3` },
  {
    name: "flag in quotes",
    secrets: plantedWith(AWKWARD.filter((one) => !one.includes("'"))),
    write: (name, value) => `tool --${name} ${shellText(value)} --level 3`,
  },
  { name: "header", secrets: word, write: (name, value) => `> ${name}: ${value}` },
  {
    name: "header for curl",
    secrets: plantedWith(["-", "_", ".", "+", "="]),
    write: (name, value) => `curl -H '${name}: ${value}' http://x/`,
  },
  {
    name: "parameter",
    secrets: anything,
    write: (name, value) => `"GET /x?engine=adhoc&${name}=${encodeURIComponent(value)}&n=1 HTTP/1.1" 200`,
  },
  {
    name: "connection string",
    secrets: plantedWith(["+", "/", "=", "-"]),
    write: (name, value) => `Endpoint=sb://x;${name}=${value};Suffix=y`,
  },
  { name: "log fields", secrets: word, write: (name, value) => `level=info ${name}=${value} rows=3` },
  {
    name: "SQL option",
    secrets: anything,
    write: (name, value) => `unknown option ${name.replaceAll(/[-.]/g, "_")} = ${sqlText(value)} in CREDENTIALS`,
  },
  {
    name: "SQL keyword",
    secrets: anything,
    write: (name, value) => `near ${name.replaceAll(/[-.]/g, "_")} ${sqlText(value)}`,
  },
  { name: "XML", secrets: plantedWith(["&amp;", "-", " "]), write: (name, value) => `<${name}>${value}</${name}>` },
  {
    name: "XML in CDATA",
    secrets: plantedWith(["&", "-", " ", "<"]),
    write: (name, value) => `<${name}><![CDATA[${value}]]></${name}>`,
  },
  {
    name: "JSON over lines",
    secrets: anything,
    write: (name, value) => JSON.stringify({ level: "info", [name]: [value, { deep: value }], rows: 3 }, null, 2),
  },
  { name: "JSON pair, value first", secrets: anything, write: (name, value) => JSON.stringify({ value, name }) },
  {
    name: "JSON pairs over lines",
    secrets: anything,
    write: (name, value) =>
      JSON.stringify(
        [
          { value, type: "text", name },
          { name, value },
        ],
        null,
        2,
      ),
  },
  {
    name: "JSON arguments over lines",
    secrets: anything,
    write: (name, value) => JSON.stringify({ args: [`--${name}`, value] }, null, 2),
  },
  {
    name: "YAML pair",
    secrets: anything,
    write: (name, value) => stringify({ env: [{ name, value: JSON.stringify(value) }] }),
  },
  { name: "YAML list", secrets: word, write: (name, value) => `args:\n- --${name}\n- ${value}\nport: 1` },
  { name: "value below its name", secrets: phrase, write: (name, value) => `  ${name}:\n    ${value}\n  port: 1` },
  {
    name: "quoted value below its name",
    secrets: anything,
    write: (name, value) => `"${name}":\n${JSON.stringify(value)}`,
  },
  { name: "arguments without quotes", secrets: word, write: (name, value) => `args=[--${name}, ${value}, --level]` },
  {
    name: "escaped quotes",
    secrets: plantedWith(["-", " ", "=", "/"]),
    write: (name, value) =>
      `{${JSON.stringify({ [name]: value })
        .slice(1, -1)
        .replaceAll('"', "\\u0022")}}`,
  },
];

/** Secrets that no name announces. */
const NAMELESS: readonly Form[] = [
  { name: "statement", secrets: anything, write: (_, value) => `INSERT INTO people VALUES (1, ${sqlText(value)})` },
  {
    name: "statement in JSON",
    secrets: anything,
    write: (_, value) => JSON.stringify({ msg: `failed: select a from t where b = ${sqlText(value)}`, n: 1 }),
  },
  {
    name: "query field",
    secrets: anything,
    write: (_, value) => JSON.stringify({ query_id: "1", query: `anything ${value}` }),
  },
  {
    name: "statement over lines",
    secrets: anything,
    write: (_, value) => `CREATE USER bob\n  WITH PASSWORD ${sqlText(value)}\n  LOGIN;\nready`,
  },
  {
    name: "credentials",
    secrets: anything,
    write: (_, value) => `WITH CREDENTIALS = (AWS_KEY_ID = 'x' AWS_SECRET_KEY = ${sqlText(value)}) TYPE = CSV`,
  },
  {
    name: "statement in a path",
    secrets: anything,
    write: (_, value) => `"GET /?query=${encodeURIComponent(`SELECT ${sqlText(value)}`)} HTTP/1.1" 200`,
  },
  {
    name: "URL",
    secrets: anything,
    write: (_, value) => `dial postgres://bob:${encodeURIComponent(value)}@db:5432/x: refused`,
  },
  {
    name: "URL as people write it",
    secrets: plantedWith(["@", "/", "+", "="]),
    write: (_, value) => `dial postgres://bob:${value}@db:5432/x: refused`,
  },
  {
    name: "bearer",
    secrets: plantedWith(["-", "_", ".", "/", "+", "="]),
    write: (_, value) => `authorization: Bearer ${value}`,
  },
  {
    name: "bearer in JSON",
    secrets: plantedWith(["-", "_", ".", "+"]),
    write: (_, value) => JSON.stringify({ msg: `sent Bearer ${value} to x` }),
  },
  { name: "basic", secrets: plantedWith(["+", "/"]), write: (_, value) => `sent Basic ${value}== to x` },
  { name: "cookie", secrets: plantedWith(["; b=", "-"]), write: (_, value) => `Cookie: session=${value}` },
  {
    name: "private key",
    secrets: plantedWith(["\n", "+", "/"]),
    write: (_, value) => `-----BEGIN RSA PRIVATE KEY-----\n${value}\n-----END RSA PRIVATE KEY-----`,
  },
  {
    name: "private key in JSON",
    secrets: plantedWith(["\n", "+"]),
    write: (_, value) => JSON.stringify({ pem: `-----BEGIN PRIVATE KEY-----\n${value}\n-----END PRIVATE KEY-----` }),
  },
  {
    name: "literal in small letters",
    secrets: anything,
    write: (_, value) => `select ${sqlText(value)}, f(${sqlText(value)})`,
  },
  { name: "argument of a call", secrets: anything, write: (_, value) => `failed: call f(1, ${sqlText(value)})` },
  { name: "pattern", secrets: anything, write: (_, value) => `SHOW TABLES LIKE ${sqlText(value)}` },
  {
    name: "sentence in quotes",
    secrets: anything,
    write: (_, value) => `using password ${JSON.stringify(value)} for bob`,
  },
  { name: "sentence", secrets: word, write: (_, value) => `the password is ${value} now` },
  {
    name: "user of a web address",
    secrets: plantedWith(["-", "_", ".", "~"]),
    write: (_, value) => `clone https://${value}@github.com/a and https://${value}:x-oauth-basic@github.com/b`,
  },
  {
    name: "Oracle",
    secrets: plantedWith(["-", "_", "#", "$"]),
    write: (_, value) => `jdbc:oracle:thin:scott/${value}@//db:1521/x`,
  },
  {
    name: "webhook",
    secrets: plantedWith(["/", "-"]),
    write: (_, value) => `https://hooks.slack.com/services/T0/${value} refused`,
  },
  {
    name: "JWT",
    secrets: plantedWith(["-", "_"]),
    write: (_, value) => `with eyJhbGciOiJIUzI1NiJ9.${value}.${value} now`,
  },
];

const line = (forms: readonly Form[]) =>
  fc
    .constantFrom(...forms)
    .chain(({ name: form, secrets, write }) =>
      fc
        .record({ name: secretName, secret: secrets })
        .map(({ name, secret }) => ({ form, text: write(name, secret.value), parts: secret.parts })),
    );
const anyLine = line([...NAMED, ...NAMELESS]);

/** The time that the log reader puts before a line. */
const timed = (text: string): string =>
  text
    .split("\n")
    .map((one, i) => `2026-01-01T00:00:0${i % 10}.000000000Z ${one}\n`)
    .join("");

const EMPTY: BundleContent = { objects: [], events: [], versions: {}, status: "", logs: [], gaps: [] };

async function archiveOf(content: Partial<BundleContent>): Promise<string> {
  const files = await assembleBundle({ ...EMPTY, ...content }, createScrubber([]));
  return createTar(files, 0).toString("utf8");
}

function expectGone(archive: string, parts: readonly string[]): void {
  for (const one of parts) expect(archive).not.toContain(one);
}

describe("every form, alone", () => {
  test.each([...NAMED, ...NAMELESS])("$name", async ({ secrets, write }) => {
    await fc.assert(
      fc.asyncProperty(secretName, secrets, async (name, { value, parts }) => {
        const text = write(name, value);
        expectGone(await archiveOf({ logs: [{ path: "logs/a.log", text: timed(text) }] }), parts);
        expectGone(await archiveOf({ events: [{ message: text }] }), parts);
      }),
      { numRuns: 60 },
    );
  });
});

test("no planted secret is anywhere in the archive, and useful lines are kept", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyLine, { minLength: 1, maxLength: 6 }),
      fc.array(anything, { minLength: 6, maxLength: 6 }),
      secretName,
      async (lines, values, name) => {
        const text = lines.map((one) => one.text);
        const [variable = "", argument = "", header = "", field = "", config = "", annotation = ""] = values.map(
          ({ value }) => value,
        );
        const log = [...text.flatMap((one) => [one, "level=info msg=ready"])].map(timed).join("");
        const pod = {
          kind: "Pod",
          metadata: { name: "adhoc-g0-0", annotations: { note: text[0] ?? "", [`example.com/${name}`]: annotation } },
          spec: {
            customEngineConfig: { any: { thing: config } },
            containers: [
              {
                name: "engine",
                env: [{ name: "ANY", value: variable }],
                args: [`--${name}`, argument.startsWith("--") ? argument.slice(1) : argument, "--level=debug", ...text],
                livenessProbe: { httpGet: { path: "/", httpHeaders: [{ name, value: header }] } },
                extra: { [name]: field },
              },
            ],
          },
          status: { phase: "Running", message: text.at(-1) ?? "" },
        };
        const object: KubeObject = pod;
        const archive = await archiveOf({
          objects: [object],
          events: text.map((message) => ({ reason: "Failed", message })),
          status: text.join("\n"),
          logs: [{ path: "logs/adhoc-g0-0/engine.log", text: log }],
          gaps: text.map((why) => ({ what: "pods", why, isLoss: true })),
        });
        expectGone(
          archive,
          [...lines, ...values].flatMap(({ parts }) => parts),
        );
        for (const kept of ["adhoc-g0-0", "--level=debug", "Running", "Failed", "msg=ready"])
          expect(archive).toContain(kept);
      },
    ),
    { numRuns: 150 },
  );
});
