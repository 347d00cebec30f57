// External identity providers of an instance: `spec.auth.oidc`. Admission validates names, mappings and durations
// further.
import { ENGINE_AUTH_DEFAULTS } from "../defaults.ts";
import { array, boolean, object, required, string } from "../schema/builders.ts";
import { dayDuration } from "../schema/durations.ts";
import type { Infer } from "../schema/schema.ts";

const provider = object(
  {
    name: required(
      string({
        description: "Name of the provider, unique in the list. Must not start with an underscore.",
        pattern: "^[^_].*$",
      }),
    ),
    title: string({ description: "Display name of the provider." }),
    audience: string({ description: "Audience that tokens must name." }),
    discoveryURL: required(
      string({ description: "Address of the discovery document, https only.", pattern: "^https://.+" }),
    ),
    usernameMapping: required(
      string({
        description:
          "Template over the claims of a token that gives the user name. With several providers it must use the claim iss.",
        minLength: 1,
      }),
    ),
    jitProvisioning: object(
      {
        enabled: boolean({ description: "Creates unknown users at their first login.", default: false }),
        defaultRoles: array(string({ description: "Name of a role." }), {
          description: `Roles of users created this way. Unset means ${ENGINE_AUTH_DEFAULTS.defaultRoles.join(", ")}.`,
        }),
      },
      { description: "Users created at their first login." },
    ),
    jwks: object(
      {
        cacheTTL: dayDuration({
          description: `How long the provider's keys are kept. Unset means ${ENGINE_AUTH_DEFAULTS.jwksCacheTtl}.`,
        }),
      },
      { description: "The provider's keys." },
    ),
    discovery: object(
      {
        refreshInterval: dayDuration({
          description: `How often the discovery document is read again. Unset means ${ENGINE_AUTH_DEFAULTS.discoveryRefreshInterval}.`,
        }),
      },
      { description: "The provider's discovery document." },
    ),
  },
  { description: "An identity provider." },
);
export type OidcProvider = Infer<typeof provider>;

export const instanceOidc = object(
  {
    jwt: object(
      {
        clockSkewTolerance: dayDuration({
          description: `Tolerated difference between clocks. Unset means ${ENGINE_AUTH_DEFAULTS.clockSkewTolerance}.`,
        }),
        maxTokenAge: dayDuration({
          description: `Maximum age of a token. Unset means ${ENGINE_AUTH_DEFAULTS.maxTokenAge}.`,
        }),
      },
      { description: "How tokens of all providers are validated." },
    ),
    providers: required(array(provider, { description: "The providers.", minItems: 1 })),
  },
  { description: "External identity providers." },
);
