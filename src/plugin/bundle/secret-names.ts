// Which names announce a secret value, and which announce query text: names of fields, variables, flags, headers and
// parameters. A false positive costs one value in a bundle; a false negative leaks a credential. Pure.

/**
 * In any position of the name, whatever separates its words: `AWS_SECRET_KEY_ID`, `clientSecretKey`,
 * `X-Amz-Signature`.
 */
const STRONG_PARTS = [
  "password",
  "passwd",
  "passphrase",
  "passcode",
  "secret",
  "signature",
  "credential",
  "authorization",
  "authentication",
  "cookie",
  "connectionstring",
  "clientassertion",
  "passwort",
  "kennwort",
  "motdepasse",
  "privkey",
];
/** These name counts and object keys as well, so that small numbers under them are kept. */
const WEAK_PARTS = ["token", "key"];
/** Too short to be looked for inside other words (`bypass`, `signal`). */
const STRONG_WORDS: ReadonlySet<string> = new Set([
  "pass",
  "pwd",
  "pw",
  "auth",
  "sig",
  "sas",
  "pin",
  "otp",
  "dsn",
  "pat",
  "jwt",
  "cred",
  "creds",
  "bearer",
]);
/** Alone they name a value; as part of a name (`sessionAffinity`, `pod-template-hash`) they do not. */
const WEAK_NAMES: ReadonlySet<string> = new Set([
  "session",
  "sessionid",
  "jsessionid",
  "phpsessid",
  "sid",
  "csrf",
  "xsrf",
  "samlresponse",
  "samlrequest",
  "nonce",
  "salt",
  "hash",
  "hmac",
  "private",
  "accessid",
  "awsaccess",
]);
/** Headers whose value may have spaces in it. */
const HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "proxyauthorization",
  "authentication",
  "cookie",
  "setcookie",
]);
const QUERIES: ReadonlySet<string> = new Set([
  "query",
  "querytext",
  "rawquery",
  "normalizedquery",
  "sql",
  "sqltext",
  "sqlquery",
  "statement",
  "statementtext",
  "stmt",
  "dbstatement",
  "dbquerytext",
  "requestbody",
]);

/** A log has many names: a quick check rules most of them out. */
const WORTH_A_LOOK =
  /pass|pwd|pw|secret|sig|cred|auth|cookie|conn|token|key|sas|pin|otp|dsn|pat|jwt|bearer|assertion|wort|motdepasse|mot_de|session|sess|sid|[cx]srf|saml|nonce|salt|hash|hmac|private|privkey|access|query|sql|statement|stmt|body/i;

export type NameMeaning = "secret" | "weak secret" | "header" | "query" | "harmless";

export function meaningOf(name: string): NameMeaning {
  if (!WORTH_A_LOOK.test(name)) return "harmless";
  const plain = name.replaceAll(/[^A-Za-z0-9]/g, "").toLowerCase();
  if (HEADERS.has(plain)) return "header";
  if (STRONG_PARTS.some((part) => plain.includes(part)) || wordsOf(name).some((word) => STRONG_WORDS.has(word)))
    return "secret";
  if (WEAK_NAMES.has(plain) || WEAK_PARTS.some((part) => plain.includes(part))) return "weak secret";
  return QUERIES.has(plain) ? "query" : "harmless";
}

export function isSecretName(name: string): boolean {
  const meaning = meaningOf(name);
  return meaning !== "harmless" && meaning !== "query";
}

/** `userPass`, `user_pass` and `USER-PASS` have the same words. */
function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
}
