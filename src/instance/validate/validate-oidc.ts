// Rules for external identity providers beyond their schema: no two of them may authenticate the same user, and none
// the administrator.

import { SCHEMA_DEFAULTS } from "../../api/defaults.ts";
import type { InstanceAuth } from "../../api/firebolt-instance/auth.ts";
import type { OidcProvider } from "../../api/firebolt-instance/oidc.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import type { Violation } from "../../podtemplate/rules/violation.ts";
import { validateDayDuration } from "./validate-duration.ts";

type Oidc = DeepReadonly<NonNullable<InstanceAuth["oidc"]>>;
type Provider = DeepReadonly<OidcProvider>;

const ISSUER_CLAIM = /\{\{\s*iss\s*\}\}/;

export function validateOidc(oidc: Oidc | undefined, adminName: string | undefined, path: string): Violation[] {
  if (oidc === undefined) return [];
  const admin = adminName || SCHEMA_DEFAULTS.auth.adminName;
  return [
    ...validateDayDuration(oidc.jwt?.clockSkewTolerance, `${path}.jwt.clockSkewTolerance`, "any"),
    ...validateDayDuration(oidc.jwt?.maxTokenAge, `${path}.jwt.maxTokenAge`, "positive"),
    ...oidc.providers.flatMap((provider, index) => {
      const at = `${path}.providers[${index}]`;
      const repeated = oidc.providers.findIndex(({ name }) => name === provider.name) < index;
      return [
        ...(repeated
          ? [{ path: `${at}.name`, type: "Duplicate value" as const, value: provider.name, detail: "" }]
          : []),
        ...validateMapping(provider, `${at}.usernameMapping`, { admin, several: oidc.providers.length > 1 }),
        ...validateDayDuration(provider.jwks?.cacheTTL, `${at}.jwks.cacheTTL`, "any"),
        ...validateDayDuration(provider.discovery?.refreshInterval, `${at}.discovery.refreshInterval`, "positive"),
      ];
    }),
  ];
}

function validateMapping(
  { usernameMapping }: Provider,
  path: string,
  { admin, several }: { readonly admin: string; readonly several: boolean },
): Violation[] {
  const invalid = (detail: string): Violation => ({ path, type: "Invalid value", value: usernameMapping, detail });
  return [
    ...(several && !ISSUER_CLAIM.test(usernameMapping)
      ? [invalid("must include the iss claim as {{ iss }}: with several providers user names could collide")]
      : []),
    ...(!usernameMapping.includes("{{") && usernameMapping.trim() === admin
      ? [invalid(`may not resolve to the admin user ${JSON.stringify(admin)}`)]
      : []),
  ];
}
