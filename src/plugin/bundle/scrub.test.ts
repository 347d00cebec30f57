import { describe, expect, test } from "vitest";
import { REDACTED } from "./redacted.ts";
import { createScrubber } from "./scrub.ts";

const { text: scrub } = createScrubber([]);

test("known values are removed, longest first, in every form; short ones are kept", () => {
  const { text } = createScrubber(["secret-value", "secret-value-longer", "abc", 'with "quotes" & more']);
  expect(text("x secret-value-longer y secret-value z abc")).toBe(`x ${REDACTED} y ${REDACTED} z abc`);
  const base64 = Buffer.from('with "quotes" & more').toString("base64");
  const forms = [
    'with \\"quotes\\" & more',
    'with \\\\\\"quotes\\\\\\" & more',
    "with%20%22quotes%22%20%26%20more",
    base64,
  ];
  for (const form of forms) expect(text(`a ${form} b`)).toBe(`a ${REDACTED} b`);
});

describe("possible secrets are removed at any position", () => {
  test.each([
    // SQL
    ["CREATE USER a WITH PASSWORD 'hunter22'", /^CREATE USER REDACTED$/],
    ["ALTER USER a SET password = 'hunter22';", /^ALTER USER REDACTED$/],
    ["CREATE LOCATION l WITH SOURCE = AMAZON_S3 CREDENTIALS = (AWS_KEY_ID='x' AWS_SECRET_KEY = 'hunter22')", /^CREATE/],
    [
      "COPY t FROM 's3://b/' WITH CREDENTIALS = (AWS_KEY_ID='a)b' AWS_SECRET_KEY='hunter22') PATTERN='*'",
      /^COPY REDACTED$/,
    ],
    ["bad option CREDENTIALS = (AWS_SECRET_KEY = 'a)hunter22') in line 3", /^bad option CREDENTIALS/],
    ["PASSWORD 'it''s hunter22'", /^PASSWORD 'REDACTED'$/],
    ["PASSWORD E'it\\'s hunter22' next", /^PASSWORD E'REDACTED' next$/],
    ["secret_key => $tag$hunter22$tag$, next", /^secret_key => \$tag\$REDACTED\$tag\$, next$/],
    ["select ssn from people where name = 'hunter22'", /^select REDACTED$/],
    [
      '{"msg":"running SELECT * FROM t WHERE ssn=\'hunter22\'","rows":3}',
      /^{"msg":"running SELECT REDACTED","rows":3}$/,
    ],
    ['{"query":"show \\"hunter22\\"","status":"ok"}', /^{"query":"REDACTED","status":"ok"}$/],
    ["SELECT a,\n  b\nFROM t\nWHERE c = 'hunter22'\n  AND d = 1;\nready", /\nready$/],
    [
      "ERROR: duplicate\nDETAIL:  Key (email)=(hunter22) already exists.",
      /^ERROR: duplicate\nDETAIL: {2}Key REDACTED$/,
    ],
    ["2026-01-01T00:00:00.000000000Z INSERT INTO t\n2026-01-01T00:00:01.000000000Z VALUES ('hunter22')", /Z REDACTED$/],
    [String.raw`call login('CORP\', 'hunter22')`, /^call login\('REDACTED'\)$/],
    [String.raw`password = 'x\' and clientSecret = 'hunter22' next`, /^password = 'REDACTED' next$/],
    ["select 'hunter22?a=b', f('hunter22?a=b')", /^select 'REDACTED' f\('REDACTED'$/],
    ["select 'x://u:hunter22','a@h', 'hunter22'", /^select 'REDACTED', 'REDACTED'$/],
    // JSON, at any depth of escaping
    ['{"password": "hunter22", "user": "bob"}', /^{"password": "REDACTED", "user": "bob"}$/],
    ['{"msg":"got {\\"password\\":\\"hunter22\\"}","n":1}', /^{"msg":"got {\\"password\\":\\"REDACTED\\"}","n":1}$/],
    [
      JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ aws_secret_key: 'x"\\hunter22' }) }) }),
      /aws_secret_key/,
    ],
    ['{"name":"X-Api-Key","value":"hunter22"}', /^{"name":"X-Api-Key","value":"REDACTED"}$/],
    ['["--password", "hunter22", "--verbose"]', /^\["--password", "REDACTED", "--verbose"\]$/],
    ['{"tokens":["hunter22","x"],"n":1}', /^{"tokens":REDACTED,"n":1}$/],
    ["{password: hunter22, user: bob}", /^{password: REDACTED, user: bob}$/],
    // names in any position
    ["client_secret_key: hunter22", /^client_secret_key: REDACTED$/],
    ["AccountName=a;AccountKey=hunter22==;EndpointSuffix=e", /^AccountName=a;AccountKey=REDACTED;EndpointSuffix=e$/],
    ["with X-Amz-Signature=hunter22&X-Amz-Date=1", /^with X-Amz-Signature=REDACTED&X-Amz-Date=1$/],
    ["PGPASSWORD=hunter22 psql", /PGPASSWORD=REDACTED/],
    ["userPass=a b;c=hunter22", /^userPass=REDACTED$/],
    ["api_key=hunter22 next", /^api_key=REDACTED/],
    // flags, headers, lines of files
    ["exec tool --api-key hunter22 --level 3", /^exec tool --api-key REDACTED --level 3$/],
    ["exec tool --token=hunter22 --level 3", /^exec tool --token=REDACTED --level 3$/],
    ["curl -u bob:hunter22 http://x", /^curl -u bob:REDACTED http:\/\/x$/],
    ['Authorization: Digest username="bob", response="hunter22"', /^Authorization: REDACTED$/],
    ["curl -H 'Authorization: token hunter22' http://x", /^curl -H 'Authorization: REDACTED' http:\/\/x$/],
    ['{"headers":"cookie: a=b; session=hunter22","n":1}', /^{"headers":"cookie: REDACTED","n":1}$/],
    ["password: correct horse hunter22", /^password: REDACTED$/],
    ["  - token: |\n      hunter22\n      more\n  - name: x", /^ {2}- token: REDACTED\n {2}- name: x$/],
    ['<password encoding="plain">hunter22</password>', /password/],
    // URLs and paths
    ["postgres://user:hunter22@db/x", /^postgres:\/\/user:REDACTED@db\/x$/],
    ["postgres://user:p@ss/hunter22@db/x", /^postgres:\/\/user:REDACTED@db\/x$/],
    ["redis://:hunter22@cache:6379", /^redis:\/\/:REDACTED@cache:6379$/],
    [
      '"POST /?engine=adhoc&aws_secret_key=hunter22 HTTP/1.1" 200',
      /^"POST \/\?engine=adhoc&aws_secret_key=REDACTED HTTP\/1.1" 200$/,
    ],
    ['"GET /?q=hunter22&database=db HTTP/1.1" 200', /^"GET \/\?q=REDACTED&database=db HTTP\/1.1" 200$/],
    ["https://b.s3.amazonaws.com/o?X-Amz-Credential=c&X-Amz-Signature=hunter22", /^https:\/\/b.s3.amazonaws.com\/o\?/],
    ["redirect=%2F%3Ftoken%3Dhunter22%26x%3D1 ok", /^redirect=%2F%3Ftoken%3DREDACTED%26x%3D1 ok$/],
    // shapes
    ["Bearer hunter22hunter22 end", /^Bearer REDACTED end$/],
    ["sent basic aHVudGVyMjI= end", /^sent basic REDACTED end$/],
    ["saw eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.hunter22 end", /^saw REDACTED end$/],
    ["saw AKIAHUNTER22HUNTER22 end", /^saw REDACTED end$/],
    ["-----BEGIN EC PRIVATE KEY-----\nhunter22\n-----END EC PRIVATE KEY-----\nend", /^REDACTED\nend$/],
    ['{"pem":"-----BEGIN PRIVATE KEY-----\\nhunter22\\n-----END PRIVATE KEY-----\\n"}', /^{"pem":"REDACTED\\n"}$/],
    [`${"hunter22".repeat(8)}\n-----END PRIVATE KEY-----`, /^REDACTED\n/],
    // names and values as values, in either order and over lines
    [
      "- name: DB_PASSWORD\n  value: hunter22\n- name: LEVEL\n  value: debug",
      /value: REDACTED\n- name: LEVEL\n {2}value: debug$/,
    ],
    ['{"value":"hunter22","name":"password"}', /^{"value":"REDACTED","name":"password"}$/],
    ['{\n  "value": "hunter22",\n  "name": "password"\n}', /^{\n {2}"value": "REDACTED",\n {2}"name": "password"\n}$/],
    ['{\n  "name": "password",\n  "type": "text",\n  "value": "hunter22"\n}', /"value": "REDACTED"\n}$/],
    ['{"key":"password","val":"hunter22"}', /"val":"REDACTED"}$/],
    ['{"Key":"password","Value":{"stringValue":"hunter22"}}', /"Value":REDACTED}$/],
    [
      String.raw`{"msg":"- name: DB_PASSWORD\n  value: hunter22\n"}`,
      /^{"msg":"- name: DB_PASSWORD\\n {2}value: REDACTED/,
    ],
    // a value below its name
    ["password:\n  hunter22\nuser: bob", /^password:\n {2}REDACTED\nuser: bob$/],
    [
      "2026-01-01T00:00:00Z password:\n2026-01-01T00:00:01Z   hunter22\n2026-01-01T00:00:01Z ready",
      /REDACTED\n2026-01-01T00:00:01Z ready$/,
    ],
    ['"password":\n"hunter22",\n"user": "bob"', /^"password":\n"REDACTED",\n"user": "bob"$/],
    [String.raw`{"msg":"password:\n  hunter22"}`, /^{"msg":"password:\\n {2}REDACTED"}$/],
    ["passwords:\n- hunter22\nuser: bob", /^passwords:\nREDACTED\nuser: bob$/],
    ['"tokens": [\n  "hunter22",\n  "b"\n],\n"n": 1', /^"tokens": REDACTED\n\],\n"n": 1$/],
    ["password = \\\n  hunter22\nready", /^password = REDACTED\nready$/],
    ["tool --password \\\n  hunter22 --level 3", /REDACTED --level 3$/],
    ['"args": [\n  "--password",\n  "hunter22",\n  "--level"\n]', /"--password",\n {2}"REDACTED",\n {2}"--level"/],
    // prose
    ['using password "hunter22" for bob', /^using password "REDACTED" for bob$/],
    ["password is hunter22, try again", /^password is REDACTED, try again$/],
    ["set password to hunter22", /^set password to REDACTED$/],
    ["login with password hunter22 failed", /^login with password REDACTED failed$/],
    ['setPassword("hunter22")', /^setPassword\(REDACTED\)$/],
    ["sent token Hunter22Hunter22x now", /^sent token REDACTED now$/],
    ["bearer=hunter22", /^bearer=REDACTED$/],
    ["found creds: admin:hunter22 end", /^found creds: REDACTED end$/],
    ["cookie a=hunter22; b=1", /^cookie REDACTED$/],
    ["got session=hunter22 rows=3", /^got session=REDACTED rows=3$/],
    ["got client_assertion=hunter22&x=1", /^got client_assertion=REDACTED&x=1$/],
    // addresses
    ["jdbc:oracle:thin:scott/hunter22@//db:1521/x", /REDACTED@\/\/db:1521\/x$/],
    ["dial admin:hunter22@db.example.com:5432/x", /^dial admin:REDACTED@db.example.com:5432\/x$/],
    ["clone https://hunter22@github.com/x", /^clone https:\/\/REDACTED@github.com\/x$/],
    ["clone https://hunter22:x-oauth-basic@github.com/x", /^clone https:\/\/REDACTED@github.com\/x$/],
    [
      "post https://hooks.slack.com/services/T0/B0/hunter22 failed",
      /^post https:\/\/hooks.slack.com\/services\/REDACTED failed$/,
    ],
    // escapes and XML
    ["<password><![CDATA[hunter22]]></password>", /^<password>REDACTED<\/password>$/],
    ["<password\n>\n  hunter22\n</password> end", /^<password\n>REDACTED<\/password> end$/],
    [String.raw`{\u0022password\u0022:\u0022hunter22\u0022}`, /^{\\"password\\":\\"REDACTED\\"}$/],
    [String.raw`got passw\u006frd\u003dhunter22\u0026x=1`, /^got password=REDACTED&x=1$/],
    ["got password%253Dhunter22 end", /^got password%253DREDACTED end$/],
    // literals of statements
    ["select 'hunter22'", /^select 'REDACTED'$/],
    ["failed: call login('it''s hunter22', 1)", /^failed: call login\('REDACTED', 1\)$/],
    ["SHOW TABLES LIKE 'hunter22'", /^SHOW TABLES LIKE 'REDACTED'$/],
    ["execute p($$hunter22$$)", /^execute p\(\$\$REDACTED\$\$\)$/],
    // arguments
    ["args=[--password, hunter22, --level]", /^args=\[--password, REDACTED, --level\]$/],
    ["tool --password -Hunter22 --level 3", /^tool --password REDACTED --level 3$/],
    ["mysql -uroot -phunter22 db", /^mysql -uroot -pREDACTED db$/],
    ["sshpass -p hunter22 ssh", /^sshpass -p REDACTED ssh$/],
    // tokens of services
    ...["sk-proj-", "sk_live_", "hvs.", "npm_", "ghp_", "xoxb-", "xoxp-", "xoxa-", "AIza", "dckr_pat_"].map(
      (prefix): [string, RegExp] => [`saw ${prefix}${"hunter22".repeat(4)} end`, /^saw REDACTED end$/],
    ),
    ["key id AKIAHUNTER22HUNTER22 wJalrXUtnFEMI/K7MDENG/hunter22EXAMPLEKEY end", /^key id REDACTED REDACTED end$/],
    [
      "2026-01-01T00:00:00Z -----BEGIN PRIVATE KEY-----\n2026-01-01T00:00:00Z hunter22\n2026-01-01T00:00:01Z -----END PRIVATE KEY-----\nend",
      /^2026-01-01T00:00:00Z REDACTED\nend$/,
    ],
    [
      "2026-01-01T00:00:00Z aGVsbG8+\n2026-01-01T00:00:00Z hunter22==\n2026-01-01T00:00:01Z -----END PRIVATE KEY-----",
      /Z REDACTED\n2026-01-01T00:00:00Z REDACTED\n/,
    ],
    ['spec.env[0].value: Invalid value: "hunter22": too short', /Invalid value: "REDACTED": too short$/],
  ])("%s", (text, want) => {
    const result = scrub(text);
    expect(result).toMatch(want);
    expect(result.toLowerCase()).not.toContain("hunter22");
    expect(result).not.toContain("aHVudGVyMjI");
    expect(scrub(result)).toBe(result);
  });
});

test.each([
  '{"level":"info","msg":"query done","rows":12,"token_count":3,"query_id":"0d5f"}',
  'MountVolume.SetUp failed for volume "tls" : secret "lake-tls" not found',
  "couldn't find key password in Secret analytics/creds",
  'secrets "lake-tls" is forbidden: User "bob" cannot get resource "secrets" in API group ""',
  'Pulling image "registry.example.com/token-service:1.2"',
  "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector",
  "create Pod adhoc-g1-0 in StatefulSet adhoc-g1 successful",
  "dial tcp 10.0.0.1:5432: connect: connection refused",
  "http://lake-gateway.analytics.svc:8080/?engine=adhoc",
  '[2026-01-01T00:00:00.000Z] "POST / HTTP/1.1" 503 flags=UF details=upstream_reset upstream=10.0.0.1:3473 authority=gateway engine=adhoc',
  "password is required: set spec.auth.passwordSecretRef",
  "password authentication failed for user bob",
  "mkdir -p /var/lib/firebolt/data2",
  "image registry.example.com/engine:1.2@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
  "at github.com/envoyproxy/go-control-plane@v0.13.4/pkg/cache/v3/simple.go:123",
  "HorizontalPodAutoscalerV2Beta2 is deprecated",
  "Service adhoc: sessionAffinity=None pod-template-hash=7d9f8b6c5",
  "containers:\n- name: engine\n  value: debug\nready",
  'Readiness probe failed: Get "http://10.0.0.1:3473/health": context deadline exceeded',
  "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
])("useful output is kept: %s", (text) => expect(scrub(text)).toBe(text));

describe("takes linear time", () => {
  const FIVE_MIB = 5 * 1024 * 1024;
  const repeated = (unit: string, length: number): string => unit.repeat(Math.ceil(length / unit.length));
  /** As one line, and as lines just below the length at which a line is cut. */
  test.each([
    "password=",
    "password ",
    'password="',
    '"',
    "'",
    "\\",
    '\\"',
    '"cookie: a" ',
    '"select a from b" ',
    "select ",
    "select '",
    "grant ",
    "://a:",
    "a:@",
    "<password>",
    "<a",
    "name: password value: x ",
    "token: [",
    "-----BEGIN PRIVATE KEY",
    "?a=b",
  ])("%j", { timeout: 120_000 }, (unit) => {
    expect(scrub(repeated(unit, FIVE_MIB)).length).toBeLessThan(20_000);
    const lines = `${repeated(unit, 8000)}\n`;
    expect(scrub(repeated(lines, FIVE_MIB / 40)).length).toBeGreaterThan(0);
  });

  test("the end of a long line is cut, and the lines around it are kept", () => {
    const cut = scrub(`first\n${"word ".repeat(4000)}token hunter22\nlast`);
    expect(cut).toMatch(/^first\nword [\s\S]*\[line cut here: 20014 characters\]\nlast$/);
    expect(cut).not.toContain("hunter22");
  });
});
