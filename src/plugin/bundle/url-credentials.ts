// User names and passwords before the `@` of an address: `scheme://user:password@host`, `https://token@host`,
// `user:password@host`, `user/password@//host`. Pure.
import { keepQuoteParity, REDACTED } from "./redacted.ts";

export function scrubAddresses(text: string): string {
  return scrubBareAddresses(scrubUrls(text));
}

const WORD_END = /[\s"<>`]|$/g;
const USER = /[^\s/:@"'<>`]*/y;
/** A number before a slash is a port. */
const PORT = /:\d{1,5}(?:[/?#\s"'`\\]|$)/y;

function scrubUrls(text: string): string {
  let [result, done] = ["", 0];
  for (let at = text.indexOf("://"); at >= 0; at = text.indexOf("://", Math.max(at + 3, done))) {
    const start = at + 3;
    WORD_END.lastIndex = start;
    const end = WORD_END.exec(text)?.index ?? text.length;
    // A password may have an @ or a slash in it, so the last @ counts.
    const last = start + text.slice(start, end).lastIndexOf("@");
    if (last < start) {
      at = Math.max(at, end - 3);
      continue;
    }
    USER.lastIndex = start;
    const user = USER.exec(text)?.[0] ?? "";
    PORT.lastIndex = start + user.length;
    const next = text.charAt(start + user.length);
    if ((next === ":" && PORT.test(text)) || (next !== ":" && next !== "@")) continue;
    // Of web addresses the user may be the token.
    const isWeb = /https?$/i.test(text.slice(Math.max(0, at - 5), at));
    const kept = next === ":" && !isWeb ? `${user}:` : "";
    const isHarmless = next === "@" && (user === "git" || user === "");
    const account = text.slice(start, last);
    result += text.slice(done, start) + (isHarmless ? account : keepQuoteParity(account, `${kept}${REDACTED}`));
    done = last;
  }
  return result + text.slice(done);
}

const LONGEST = 256;
const ACCOUNT = /(?:^|[\s"'`=(,[:])([\w.-]{1,64})([:/])([^\s"'`<>@]+)$/;
/** What follows the @ of an image, of a Go module or of a package is a digest, a version or a name. */
const NO_HOST = /@(?:sha256:|v?\d+\.\d|[\s"']|$)/y;
const ORACLE = /@(?:\/\/|[\w.-]+:\d)/y;

/** Searches backwards from each @, never past the previous one: linear time. */
function scrubBareAddresses(text: string): string {
  let [result, done] = ["", 0];
  for (let at = text.indexOf("@"), before = 0; at >= 0; before = at + 1, at = text.indexOf("@", at + 1)) {
    const lead = text.slice(Math.max(before, at - LONGEST), at);
    const [, , separator = "", password = ""] = ACCOUNT.exec(lead) ?? [];
    NO_HOST.lastIndex = at;
    ORACLE.lastIndex = at;
    if (password === "" || password === REDACTED || password.startsWith("//") || NO_HOST.test(text)) continue;
    if (separator === "/" && !ORACLE.test(text)) continue;
    result += text.slice(done, at - password.length) + REDACTED;
    done = at;
  }
  return result + text.slice(done);
}
