// Credentials that are recognised by their shape: one row per shape. Pure.
import { keepQuoteParity, REDACTED } from "./redacted.ts";
import { isSecretName } from "./secret-names.ts";
import { scrubAddresses } from "./url-credentials.ts";
import { lineEndOf } from "./value-range.ts";

export interface TextRule {
  readonly name: string;
  readonly scrub: (text: string) => string;
}

const replacing = (name: string, pattern: RegExp, replacement: string): TextRule => ({
  name,
  scrub: (text) => text.replace(pattern, replacement),
});

export const CREDENTIAL_SHAPES: readonly TextRule[] = [
  replacing(
    "private key",
    /-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|$)/g,
    REDACTED,
  ),
  // A log may begin in the middle of a key.
  { name: "end of a private key", scrub: scrubKeyEnds },
  replacing("lines of base64", /^(\d{4}-\d\d-\d\dT\S+ )?[ \t]*[A-Za-z0-9+/]{60,}={0,2}[ \t]*$/gm, `$1${REDACTED}`),
  replacing("JSON Web Token", /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*/g, REDACTED),
  replacing("bearer token", /\b(bearer)(\s+|%20|\+)[^\s"'`,;\\]{6,}/gi, `$1$2${REDACTED}`),
  replacing(
    "basic authentication",
    /\b([Bb]asic|BASIC)(\s+|%20|\+)(?=\S*[\dA-Z=])[A-Za-z0-9+/=_-]{6,}/g,
    `$1$2${REDACTED}`,
  ),
  replacing("AWS access key", /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/g, REDACTED),
  {
    name: "AWS secret key",
    scrub: replacingMixed(/(?<![A-Za-z0-9/+])[A-Za-z0-9+][A-Za-z0-9/+]{39}(?![A-Za-z0-9/+=])/g, /[a-z]{10}/),
  },
  replacing(
    "token of a known service",
    /\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[a-z]-[\w-]{10,}|xapp-[\w-]{10,}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|sk-(?:proj|ant|svcacct|admin)-[\w-]{10,}|sk-[A-Za-z0-9]{20,}|[rs]k_(?:live|test)_\w{10,}|whsec_\w{10,}|hv[sbr]\.[\w-]{10,}|npm_\w{20,}|dckr_pat_[\w-]{10,}|SG\.[\w-]{10,}\.[\w-]{10,}|pypi-[\w-]{30,}|dop_v1_\w{20,})/g,
    REDACTED,
  ),
  replacing("webhook", /(\bhooks\.slack\.com\/[a-z-]+\/)[^\s"'`<>\\]+/gi, `$1${REDACTED}`),
  // No name of Kubernetes has capitals, and no word of prose has all three kinds of characters and no syllables.
  { name: "random word", scrub: replacingMixed(/(?<![A-Za-z0-9])[A-Za-z0-9]{16,}(?![A-Za-z0-9])/g) },
  // The API server quotes what it rejects.
  replacing(
    "refused value of a variable",
    /(\.value: Invalid value: \\*")(?:[^"\\\n]|\\(?!"(?:[:,\s]|$)).)*/g,
    `$1${REDACTED}`,
  ),
  replacing("user and password for curl", /((?:^|\s)(?:-u|--user)[ =]\s*["']?[^\s:"']+):[^\s"']+/gm, `$1:${REDACTED}`),
  replacing(
    "password behind -p",
    /((?:^|[\s"'`])-p[ \t]?)(?=[^\s"'`/=]*[A-Z\d])(?!\d{1,5}(?![^\s"'`:]))[^\s"'`/.$=-][^\s"'`=]{3,}/gm,
    `$1${REDACTED}`,
  ),
  { name: "password in an address", scrub: scrubAddresses },
  { name: "query string", scrub: scrubQueryStrings },
  { name: "XML element", scrub: scrubElements },
];

/** Capitals, small letters and digits without a syllable, as generated passwords and keys have. */
function replacingMixed(pattern: RegExp, syllables = /[a-z]{6}/): (text: string) => string {
  return (text) =>
    text.replaceAll(pattern, (word) =>
      /[A-Z]/.test(word) && /[a-z]/.test(word) && /\d/.test(word) && !syllables.test(word) ? REDACTED : word,
    );
}

const KEY_LINE = /^(\d{4}-\d\d-\d\dT\S+ )?[ \t]*[A-Za-z0-9+/=]{1,100}[ \t]*$/;

/**
 * The end of a key whose beginning is not in the log: upwards from the last line, as long as lines hold nothing else.
 */
function scrubKeyEnds(text: string): string {
  if (!/-----END [A-Z0-9 ]*PRIVATE KEY/.test(text)) return text;
  let inKey = false;
  const lines = text.split("\n").reverse();
  const scrubbed = lines.map((line) => {
    const [found, time = ""] = (inKey ? KEY_LINE.exec(line) : undefined) ?? [];
    inKey = found !== undefined || /-----END [A-Z0-9 ]*PRIVATE KEY/.test(line);
    return found === undefined ? line : `${time}${REDACTED}`;
  });
  return scrubbed.reverse().join("\n");
}

const OPENING_TAG = /<([\w:.-]{1,100})(?=[\s>])[^<>]*>/g;

/** The metadata service logs its XML configuration. The content of elements is removed, across lines and CDATA. */
function scrubElements(text: string): string {
  let [result, done] = ["", 0];
  for (const { 0: tag, 1: name = "", index } of text.matchAll(OPENING_TAG)) {
    if (index < done || !isSecretName(name)) continue;
    const start = index + tag.length;
    const close = text.indexOf(`</${name}`, start);
    const end = close < 0 ? lineEndOf(text, start) : close;
    result += text.slice(done, start) + (text.slice(start, end).trim() === "" ? text.slice(start, end) : REDACTED);
    done = end;
    if (close < 0 && !text.includes("</", start)) break;
  }
  return result + text.slice(done);
}

/** Parameters of the gateway that select the target of a query, not its content. */
const KEPT_PARAMETERS: ReadonlySet<string> = new Set(["engine", "database", "output_format"]);
const QUERY_STRING = /(?<=[\w/.~%)\]-])\?(?=[\w.%[\]-]+=)/g;

/** Removes the values of all parameters but the harmless ones: clients put statements and credentials there. */
function scrubQueryStrings(text: string): string {
  let [result, done] = ["", 0];
  for (const { index } of text.matchAll(QUERY_STRING)) {
    if (index < done) continue;
    const start = index + 1;
    const end = parametersEnd(text, start);
    const parameters = text.slice(start, end);
    result +=
      text.slice(done, start) + keepQuoteParity(parameters, parameters.split("&").map(scrubParameter).join("&"));
    done = end;
  }
  return result + text.slice(done);
}

const PARAMETERS_END = /[\s"`<>]|\\+"/g;

/** A path has neither spaces nor double quotes; clients send single quotes and brackets unescaped. */
function parametersEnd(text: string, start: number): number {
  PARAMETERS_END.lastIndex = start;
  return PARAMETERS_END.exec(text)?.index ?? text.length;
}

function scrubParameter(parameter: string): string {
  const [name = "", ...value] = parameter.split("=");
  return value.length === 0 || KEPT_PARAMETERS.has(name) ? parameter : `${name}=${REDACTED}`;
}
