// Credentials that are known by their shape, whatever stands before them. A table: one row per shape. Pure.
import { REDACTED } from "./named-values.ts";
import { isSecretName } from "./secret-names.ts";

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
  replacing("lines of base64", /^(\d{4}-\d\d-\d\dT\S+ )?[ \t]*[A-Za-z0-9+/]{60,}={0,2}[ \t]*$/gm, `$1${REDACTED}`),
  replacing("JSON Web Token", /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*/g, REDACTED),
  replacing("bearer token", /\b(bearer)(\s+|%20|\+)[^\s"'`,;\\]{6,}/gi, `$1$2${REDACTED}`),
  replacing(
    "basic authentication",
    /\b([Bb]asic|BASIC)(\s+|%20|\+)(?=\S*[\dA-Z=])[A-Za-z0-9+/=_-]{6,}/g,
    `$1$2${REDACTED}`,
  ),
  replacing("AWS access key", /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, REDACTED),
  replacing(
    "token of a known service",
    /\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[a-z]-[\w-]{10,}|AIza[\w-]{30,}|ya29\.[\w-]{20,})/g,
    REDACTED,
  ),
  replacing("user and password for curl", /((?:^|\s)(?:-u|--user)[ =]\s*["']?[^\s:"']+):[^\s"']+/gm, `$1:${REDACTED}`),
  // A number before a slash is a port. A password may have an @ or a slash in it, so the last @ counts.
  replacing("password in a URL", /(:\/\/[^\s/:@"'<>`]*):(?!\d{1,5}(?:[/?#\s"'`\\]|$))[^\s"<>`]*@/g, `$1:${REDACTED}@`),
  { name: "query string", scrub: scrubQueryStrings },
  { name: "XML element", scrub: scrubElements },
];

/** The metadata service is configured in XML, and says so in its logs. */
function scrubElements(text: string): string {
  return text.replaceAll(/<([\w:.-]+)([^<>]*)>[^<]+<\/\1>/g, (element, name: string, attributes: string) =>
    isSecretName(name) ? `<${name}${attributes}>${REDACTED}</${name}>` : element,
  );
}

/** Parameters of the gateway that say where a query went, not what it was. */
const KEPT_PARAMETERS: ReadonlySet<string> = new Set(["engine", "database", "output_format"]);
const QUERY_STRING = /(?<=[\w/.~%)\]-])\?(?=[\w.%[\]-]+=)/g;

/** The values of all parameters go but of those that are known to be harmless: clients put statements and credentials there. */
function scrubQueryStrings(text: string): string {
  let [result, done] = ["", 0];
  for (const { index } of text.matchAll(QUERY_STRING)) {
    if (index < done) continue;
    const start = index + 1;
    const end = parametersEnd(text, start);
    result += text.slice(done, start) + text.slice(start, end).split("&").map(scrubParameter).join("&");
    done = end;
  }
  return result + text.slice(done);
}

const PARAMETERS_END = /[\s"`<>]|\\+"/g;

/** A path has neither spaces nor double quotes; single quotes and brackets clients do send as they are. */
function parametersEnd(text: string, start: number): number {
  PARAMETERS_END.lastIndex = start;
  return PARAMETERS_END.exec(text)?.index ?? text.length;
}

function scrubParameter(parameter: string): string {
  const [name = "", ...value] = parameter.split("=");
  return value.length === 0 || KEPT_PARAMETERS.has(name) ? parameter : `${name}=${REDACTED}`;
}
