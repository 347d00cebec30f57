import { describe, expect, test } from "vitest";
import { REDACTED } from "./named-values.ts";
import { createScrubber } from "./scrub.ts";

const { text: scrub } = createScrubber([]);

test("known values go, the longest first, in every form; short ones stay", () => {
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

describe("what may be secret goes, wherever it stands", () => {
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
  "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
])("what helps stays: %s", (text) => expect(scrub(text)).toBe(text));
