// The rules of an instance that lie outside its templates: authentication, identity providers, TLS, and what may not
// change. The features cannot be enabled yet, so these tables prove their rules; the messages are those that
// users will read.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { instance } from "../../../test/harness/fixtures/manifests.ts";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { violationsText } from "../../podtemplate/rules/violation.ts";
import { validateInstanceSpec } from "./validate-spec.ts";

const CERT = { issuerRef: { name: "ca", kind: "ClusterIssuer" }, algorithm: "ECDSA", size: 384 };
const LOCAL = {
  passwordLogin: "admin_only",
  admin: { name: "firebolt", password: { name: "admin", key: "p" } },
  signingAlgorithm: "ES384",
  signingKeys: { certManager: CERT },
};
const stored = (spec: object, status: object = {}): FireboltInstance =>
  JSON.parse(JSON.stringify({ ...instance({ name: "i", ...spec }), status }));
const auth = (local: object, more: object = {}) => ({
  auth: { enabled: true, local: { ...LOCAL, ...local }, ...more },
});
const keys = (fields: object, more: object = {}) => auth({ signingKeys: { certManager: CERT, ...fields }, ...more });
const certificate = (fields: object, more: object = {}) => keys({ certManager: { ...CERT, ...fields } }, more);
const tls = (listener: "gateway" | "engine", fields: object) => ({ tls: { [listener]: { enabled: true, ...fields } } });
const messagesOf = (spec: object, status?: object): string[] =>
  validateInstanceSpec(stored(spec, status)).map((one) => violationsText([one]));

describe("authentication", () => {
  test.each<{ name: string; spec: object; want: readonly (string | RegExp)[] }>([
    { name: "complete", spec: auth({}), want: [] },
    { name: "off and empty", spec: { auth: { enabled: false } }, want: [] },
    {
      name: "off, with everything still there",
      spec: { auth: { enabled: false, local: LOCAL, oidc: { providers: [] }, preferredAuthorizationServer: "x" } },
      want: [
        /^spec\.auth\.local: Forbidden/,
        /^spec\.auth\.oidc: Forbidden/,
        /^spec\.auth\.preferredAuthorizationServer: Forbidden/,
      ],
    },
    { name: "on without local", spec: { auth: { enabled: true } }, want: [/^spec\.auth\.local: Required value/] },
    {
      name: "a password without Secret and key",
      spec: auth({ admin: { name: "a", password: { name: "", key: "" } } }),
      want: [/password\.name: Required value/, /password\.key: Required value/],
    },
    {
      name: "RSA for RS512",
      spec: certificate({ algorithm: "RSA", size: 8192 }, { signingAlgorithm: "RS512" }),
      want: [],
    },
    { name: "size 0 counts as 384", spec: certificate({ size: 0 }), want: [] },
    { name: "the curve of ES512", spec: certificate({ size: 521 }, { signingAlgorithm: "ES512" }), want: [] },
    {
      name: "RSA with the default size",
      spec: certificate({ algorithm: "RSA" }, { signingAlgorithm: "RS256" }),
      want: [
        "spec.auth.local.signingKeys.certManager.size: Invalid value: 384: a key of algorithm RSA must have a size of 2048, 4096 or 8192",
      ],
    },
    {
      name: "an ECDSA key for RS256",
      spec: auth({ signingAlgorithm: "RS256" }),
      want: [/^spec\.auth\.local\.signingAlgorithm: Invalid value: "RS256"/],
    },
    { name: "rotation with room enough", spec: keys({ rotationInterval: "720h", retainDuration: "24h30s" }), want: [] },
    {
      name: "rotation of nothing",
      spec: keys({ rotationInterval: "0s", retainDuration: "48h" }),
      want: ['spec.auth.local.signingKeys.rotationInterval: Invalid value: "0s": must be positive'],
    },
    {
      name: "a floor made of given values",
      spec: keys({ rotationInterval: "720h", retainDuration: "1h" }, { maxTokenAge: "1.5d", clockSkewTolerance: "1m" }),
      want: [
        /retainDuration: Invalid value: "1h": must be at least 36h1m0s: maxTokenAge 36h0m0s plus clockSkewTolerance 1m0s$/,
      ],
    },
    {
      name: "an explicit skew of zero",
      spec: keys({ rotationInterval: "720h", retainDuration: "24h" }, { clockSkewTolerance: "0s" }),
      want: [],
    },
    {
      name: "a negative skew is fine by itself and counts as the default",
      spec: keys({ rotationInterval: "720h", retainDuration: "24h" }, { clockSkewTolerance: "-5s" }),
      want: [/must be at least 24h0m30s/],
    },
    {
      name: "durations",
      spec: auth({ tokenExpiry: "1 hour", maxTokenAge: "0", clockSkewTolerance: "soon" }),
      want: [
        /^spec\.auth\.local\.tokenExpiry: Invalid value: "1 hour": not a duration/,
        /^spec\.auth\.local\.maxTokenAge: .*must be positive/,
        /^spec\.auth\.local\.clockSkewTolerance: .*not a duration/,
      ],
    },
    { name: "empty durations are unset ones", spec: auth({ tokenExpiry: "", maxTokenAge: "" }), want: [] },
    { name: "the local server preferred", spec: auth({}, { preferredAuthorizationServer: "_local" }), want: [] },
  ])("$name", ({ spec, want }) => {
    expect(messagesOf(spec)).toEqual(
      want.map((text) => (typeof text === "string" ? text : expect.stringMatching(text))),
    );
  });
});

describe("identity providers", () => {
  const provider = (fields: object) => ({
    name: "corp",
    discoveryURL: "https://id",
    usernameMapping: "{{ email }}",
    ...fields,
  });
  const oidc = (...providers: readonly object[]) =>
    auth({}, { oidc: { providers, jwt: { maxTokenAge: "1d" } }, preferredAuthorizationServer: "corp" });
  test.each<{ name: string; spec: object; want: readonly RegExp[] }>([
    { name: "one, preferred", spec: oidc(provider({})), want: [] },
    {
      name: "two that name the issuer",
      spec: oidc(
        provider({ usernameMapping: "{{iss}}/{{sub}}" }),
        provider({ name: "b", usernameMapping: "{{   iss }}" }),
      ),
      want: [],
    },
    {
      name: "two of one name that could collide",
      spec: oidc(provider({}), provider({})),
      want: [
        /providers\[0\]\.usernameMapping.*iss claim/,
        /providers\[1\]\.name: Duplicate value: "corp"$/,
        /providers\[1\]\.usernameMapping.*iss claim/,
      ],
    },
    {
      name: "a constant that is the administrator",
      spec: oidc(provider({ usernameMapping: "firebolt" })),
      want: [/may not resolve to the admin user "firebolt"/],
    },
    { name: "a constant that is not", spec: oidc(provider({ usernameMapping: "somebody" })), want: [] },
    {
      name: "durations",
      spec: oidc(provider({ jwks: { cacheTTL: "x" }, discovery: { refreshInterval: "-1d" } })),
      want: [/jwks\.cacheTTL: .*not a duration/, /discovery\.refreshInterval: .*must be positive/],
    },
  ])("$name", ({ spec, want }) => {
    expect(messagesOf(spec)).toEqual(want.map((text) => expect.stringMatching(text)));
  });
});

describe("TLS", () => {
  test.each<{ name: string; spec: object; status?: object; want: readonly RegExp[] }>([
    {
      name: "a certificate for each",
      spec: {
        tls: { gateway: { enabled: true, secretRef: { name: "s" } }, engine: { enabled: true, certManager: CERT } },
      },
      want: [],
    },
    {
      name: "mutual TLS with revocation",
      spec: tls("gateway", { certManager: CERT, clientCASecretRef: { name: "c" }, crlSecretRef: { name: "r" } }),
      want: [],
    },
    { name: "no source", spec: tls("gateway", {}), want: [/^spec\.tls\.gateway: Required value/] },
    {
      name: "empty names",
      spec: tls("gateway", { secretRef: { name: "" }, clientCASecretRef: {} }),
      want: [/secretRef\.name: Required value/, /clientCASecretRef\.name: Required value/],
    },
    {
      name: "a key that is too small",
      spec: tls("engine", { certManager: { ...CERT, algorithm: "RSA", size: 1024 } }),
      want: [/^spec\.tls\.engine\.certManager\.size: Invalid value: 1024/],
    },
    {
      name: "what TLS would need, without TLS",
      spec: tls("gateway", { enabled: false, clientCASecretRef: { name: "c" }, crlSecretRef: { name: "r" } }),
      want: [/clientCASecretRef: Forbidden: .*unverified/, /crlSecretRef: Forbidden/],
    },
    {
      name: "a Secret that the operator made",
      spec: tls("gateway", { certManager: CERT, clientCASecretRef: { name: "made" } }),
      status: { engineTLS: { secretName: "other", createdAt: "" }, gatewayTLS: { secretName: "made", createdAt: "" } },
      want: [/clientCASecretRef: Forbidden: Secret "made" is managed by the operator/],
    },
    {
      name: "names that only look alike",
      spec: tls("gateway", { secretRef: { name: "app-auth-signingkey" } }),
      want: [],
    },
    {
      name: "the shape of an engine's certificate",
      spec: tls("gateway", { secretRef: { name: "e-g3-engine-tls" } }),
      want: [/"e-g3-engine-tls" is managed/],
    },
    {
      name: "the shape of a signing key",
      spec: tls("gateway", { secretRef: { name: "x-auth-signing-2" } }),
      want: [/"x-auth-signing-2" is managed/],
    },
    { name: "nothing before the shape", spec: tls("gateway", { secretRef: { name: "-auth-signing" } }), want: [] },
  ])("$name", ({ spec, status, want }) => {
    expect(messagesOf(spec, status)).toEqual(want.map((text) => expect.stringMatching(text)));
  });
});

describe("updates", () => {
  const change = (before: object, after: object) =>
    validateInstanceSpec(stored(after), stored(before)).map(({ path }) => path);
  const engineTls = (issuer: string) =>
    tls("engine", { certManager: { ...CERT, issuerRef: { name: issuer, kind: "Issuer" } } });
  test.each<{ name: string; before: object; after: object; want: readonly string[] }>([
    { name: "nothing", before: auth({}), after: auth({}), want: [] },
    {
      name: "algorithm and key size",
      before: auth({}),
      after: certificate({ size: 521 }, { signingAlgorithm: "ES512" }),
      want: ["spec.auth.local.signingAlgorithm", "spec.auth.local.signingKeys.certManager.size"],
    },
    {
      name: "a size that was left at 0",
      before: certificate({ size: 0 }),
      after: certificate({ size: 384 }),
      want: [],
    },
    {
      name: "the issuer of the engines",
      before: engineTls("a"),
      after: engineTls("b"),
      want: ["spec.tls.engine.certManager.issuerRef.name"],
    },
    {
      name: "the issuer, after TLS was off",
      before: tls("engine", { enabled: false, certManager: CERT }),
      after: engineTls("b"),
      want: [],
    },
    {
      name: "the issuer of the gateway",
      before: tls("gateway", { certManager: CERT }),
      after: tls("gateway", { certManager: { ...CERT, issuerRef: { name: "b", kind: "Issuer" } } }),
      want: [],
    },
  ])("$name", ({ before, after, want }) => {
    expect(change(before, after)).toEqual(want);
  });
});

test("whatever the schema accepts gets a result, twice the same", () => {
  const text = fc.constantFrom(
    "",
    "a",
    "firebolt",
    "x-auth-signing",
    "e-g1-engine-tls",
    "1d",
    "-1h",
    "nonsense",
    "{{ iss }}",
  );
  const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
  const ref = optional(fc.record({ name: text }));
  const certManager = fc.record({
    issuerRef: fc.record({ name: text, kind: fc.constantFrom("Issuer", "ClusterIssuer") }),
    algorithm: fc.constantFrom("RSA", "ECDSA"),
    size: fc.constantFrom(0, 256, 384, 521, 2048, 3072, -1),
  });
  const listener = fc.record({
    enabled: fc.boolean(),
    certManager: optional(certManager),
    secretRef: ref,
    clientCASecretRef: ref,
    crlSecretRef: ref,
  });
  const local = fc.record({
    admin: fc.record({ name: text, password: fc.record({ name: text, key: text }) }),
    signingAlgorithm: fc.constantFrom("RS256", "ES256", "ES384", "ES512"),
    tokenExpiry: optional(text),
    maxTokenAge: optional(text),
    clockSkewTolerance: optional(text),
    signingKeys: optional(fc.record({ certManager, rotationInterval: optional(text), retainDuration: optional(text) })),
  });
  const provider = fc.record({ name: text, usernameMapping: text, jwks: optional(fc.record({ cacheTTL: text })) });
  const spec = fc.record({
    auth: optional(
      fc.record({
        enabled: fc.boolean(),
        preferredAuthorizationServer: optional(text),
        local: optional(local),
        oidc: optional(fc.record({ providers: fc.array(provider, { maxLength: 3 }) })),
      }),
    ),
    tls: optional(fc.record({ gateway: optional(listener), engine: optional(listener) })),
  });
  fc.assert(
    fc.property(spec, spec, (now, then) => {
      const [after, before] = [stored(now), stored(then)];
      const violations = validateInstanceSpec(after, before);
      expect(validateInstanceSpec(after, before)).toEqual(violations);
      for (const { path } of violations) expect(path).toMatch(/^spec\.(auth|tls)/);
    }),
    { numRuns: 2_000 },
  );
});
