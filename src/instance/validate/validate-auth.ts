// Rules for `spec.auth` beyond its schema. Pure; called by admission, and by the controller once authentication is
// available. Identity providers have a file of their own.

import type { InstanceAuth } from "../../api/firebolt-instance/auth.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import { formatGoDuration, parseDayDuration, parseGoDuration } from "../../api/values/go-duration.ts";
import type { Violation } from "../../podtemplate/rules/violation.ts";
import { keySize, validateKeySize } from "./validate-certificate.ts";
import { validateDayDuration } from "./validate-duration.ts";
import { validateOidc } from "./validate-oidc.ts";

type Auth = DeepReadonly<InstanceAuth>;
type Local = NonNullable<Auth["local"]>;
type SigningKeys = NonNullable<Local["signingKeys"]>;

const PATH = "spec.auth";
/** The authorization server inside the engines, as `preferredAuthorizationServer` names it. */
export const LOCAL_SERVER = "_local";
const CURVE_SIZE: Readonly<Record<string, number>> = { ES256: 256, ES384: 384, ES512: 521 };
const SECOND = 1_000_000_000n;
const DEFAULT_MAX_TOKEN_AGE = 86_400n * SECOND;
const DEFAULT_CLOCK_SKEW = 30n * SECOND;

export function validateAuth(auth: Auth | undefined): Violation[] {
  if (auth === undefined) return [];
  if (!auth.enabled) return validateDisabled(auth);
  const { local } = auth;
  if (local === undefined)
    return [required(`${PATH}.local`, "local is required when authentication is enabled"), ...validateShared(auth)];
  return [
    ...validateAdmin(local),
    ...(local.signingKeys === undefined
      ? [
          required(
            `${PATH}.local.signingKeys`,
            "required when authentication is enabled: engines must share their keys",
          ),
        ]
      : [...validateKey(local, local.signingKeys), ...validateRotation(local, local.signingKeys)]),
    ...validateDayDuration(local.tokenExpiry, `${PATH}.local.tokenExpiry`, "positive"),
    ...validateDayDuration(local.maxTokenAge, `${PATH}.local.maxTokenAge`, "positive"),
    ...validateDayDuration(local.clockSkewTolerance, `${PATH}.local.clockSkewTolerance`, "any"),
    ...validateShared(auth),
  ];
}

function validateShared(auth: Auth): Violation[] {
  return [...validatePreferred(auth), ...validateOidc(auth.oidc, auth.local?.admin.name, `${PATH}.oidc`)];
}

function validateDisabled({ local, oidc, preferredAuthorizationServer }: Auth): Violation[] {
  const set = { local, oidc, preferredAuthorizationServer: preferredAuthorizationServer || undefined };
  return Object.entries(set)
    .filter(([, value]) => value !== undefined)
    .map(([name]) => forbidden(`${PATH}.${name}`, `${name} is not allowed while authentication is disabled`));
}

function validateAdmin({ admin }: Local): Violation[] {
  const path = `${PATH}.local.admin.password`;
  const why = "the administrator's password is read from a Secret; the operator never generates one";
  return [
    ...(admin.password.name ? [] : [required(`${path}.name`, `name the Secret: ${why}`)]),
    ...(admin.password.key ? [] : [required(`${path}.key`, `name the key inside the Secret: ${why}`)]),
  ];
}

function validateKey({ signingAlgorithm }: Local, { certManager }: SigningKeys): Violation[] {
  const path = `${PATH}.local.signingKeys.certManager`;
  const family = signingAlgorithm.startsWith("RS") ? "RSA" : "ECDSA";
  if (family !== certManager.algorithm) {
    const detail = `${signingAlgorithm} needs a key of algorithm ${family}, but ${path}.algorithm is ${certManager.algorithm}`;
    return [
      { path: `${PATH}.local.signingAlgorithm`, type: "Invalid value", value: signingAlgorithm, detail },
      ...validateKeySize(certManager, path),
    ];
  }
  const curve = CURVE_SIZE[signingAlgorithm];
  if (curve === undefined || keySize(certManager) === curve) return validateKeySize(certManager, path);
  const detail = `the size must be ${curve} for ${signingAlgorithm}`;
  return [
    { path: `${path}.size`, type: "Invalid value", value: certManager.size, detail },
    ...validateKeySize(certManager, path),
  ];
}

function validateRotation(local: Local, { rotationInterval, retainDuration }: SigningKeys): Violation[] {
  const path = `${PATH}.local.signingKeys`;
  const interval = durationOf(rotationInterval);
  const retain = durationOf(retainDuration);
  if (interval === undefined)
    return retain === undefined
      ? []
      : [
          forbidden(
            `${path}.retainDuration`,
            "retainDuration needs rotationInterval: keys that never rotate need no retention",
          ),
        ];
  const violations: Violation[] = [];
  if (interval <= 0n)
    violations.push({
      path: `${path}.rotationInterval`,
      type: "Invalid value",
      value: rotationInterval,
      detail: "must be positive",
    });
  const floor = retainFloor(local);
  if (retain === undefined)
    violations.push(required(`${path}.retainDuration`, "retainDuration is required with rotationInterval"));
  else if (retain < floor.total)
    violations.push({
      path: `${path}.retainDuration`,
      type: "Invalid value",
      value: retainDuration,
      detail:
        `must be at least ${formatGoDuration(floor.total)}: ` +
        `maxTokenAge ${formatGoDuration(floor.age)} plus clockSkewTolerance ${formatGoDuration(floor.skew)}`,
    });
  return violations;
}

/** A token must be verifiable for as long as it is valid. An unset or unusable value counts as the engine's default. */
function retainFloor({ maxTokenAge, clockSkewTolerance }: Local) {
  const givenAge = maxTokenAge === undefined ? undefined : parseDayDuration(maxTokenAge);
  const givenSkew = clockSkewTolerance === undefined ? undefined : parseDayDuration(clockSkewTolerance);
  const age = givenAge === undefined || givenAge <= 0n ? DEFAULT_MAX_TOKEN_AGE : givenAge;
  const skew = givenSkew === undefined || givenSkew < 0n ? DEFAULT_CLOCK_SKEW : givenSkew;
  return { age, skew, total: age + skew };
}

function validatePreferred({ preferredAuthorizationServer: preferred, oidc }: Auth): Violation[] {
  const configured = (oidc?.providers ?? []).map(({ name }) => name);
  if (!preferred || preferred === LOCAL_SERVER || configured.includes(preferred)) return [];
  const detail = `must be ${LOCAL_SERVER} or the name of a configured provider`;
  return [{ path: `${PATH}.preferredAuthorizationServer`, type: "Invalid value", value: preferred, detail }];
}

/** The schema accepts only durations; other values were stored before it did. */
const durationOf = (text: string | undefined): bigint | undefined =>
  text === undefined || text === "" ? undefined : parseGoDuration(text);
const required = (path: string, detail: string): Violation => ({ path, type: "Required value", detail });
const forbidden = (path: string, detail: string): Violation => ({ path, type: "Forbidden", detail });
