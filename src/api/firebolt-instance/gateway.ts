// The gateway of an instance: `spec.gateway`.
import { INSTANCE_DEFAULTS, MAX_REPLICAS, SCHEMA_DEFAULTS } from "../defaults.ts";
import { RESERVED_GATEWAY_PORTS, RESERVED_PORT_MESSAGE } from "../gateway-ports.ts";
import { array, int32, object, string } from "../schema/builders.ts";
import { podTemplate } from "../schema/pod-template.ts";
import type { Infer } from "../schema/schema.ts";

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const MOST_DOMAINS = 16;

/** Every rule says what to write: a violated pattern would show only the expression. */
const hostDomains = array(
  string({
    description: "A domain, such as fb.example.com.",
    minLength: 1,
    maxLength: 253,
    rules: [
      {
        rule: `self.matches('^${LABEL}([.]${LABEL})*$') && self.split('.').all(label, size(label) <= 63)`,
        message:
          "must be a DNS name in lower case, such as fb.example.com: without scheme, port, path, wildcard, or dots at its ends",
      },
      {
        rule: "!self.matches('(^|[.])[0-9]+$')",
        message: "must not be an address: an engine cannot be named in front of it",
      },
    ],
  }),
  {
    description:
      "Domains below which a host names its engine: with fb.example.com, a query for adhoc.fb.example.com goes to the engine adhoc. DNS records and certificates are yours. Unset means that hosts name no engine.",
    maxItems: MOST_DOMAINS,
    set: true,
    rules: [
      {
        rule: "self.all(one, self.all(other, !one.endsWith('.' + other)))",
        message:
          "no domain may be inside another one of the list: its own name would also name an engine of the other; keep one of the two",
      },
    ],
  },
);

const defaultEngine = string({
  description:
    "Engine of a query that names none by header, parameter or host. It need not exist yet; without it such a query gets 404. Unset means that every query must name its engine.",
  maxLength: 63,
  rules: [
    {
      // The empty string is the stored form of an unset field.
      rule: `self == '' || self.matches('^${LABEL}$')`,
      message:
        "must be the name of a FireboltEngine in this namespace: one DNS label of lower-case letters, digits and dashes",
    },
  ],
});

export const instanceGateway = object(
  {
    replicas: int32({
      description: `Number of gateway pods. Unset means ${INSTANCE_DEFAULTS.gatewayReplicas}.`,
      maximum: MAX_REPLICAS,
    }),
    metricsPort: int32({
      description: "Port of the gateway's Prometheus metrics.",
      default: SCHEMA_DEFAULTS.gateway.metricsPort,
      minimum: 1,
      maximum: 65_535,
      // On the field itself: stored objects with such a port stay valid until the port changes, so that they can be
      // deleted.
      rules: [{ rule: `!(self in [${RESERVED_GATEWAY_PORTS.join(", ")}])`, message: RESERVED_PORT_MESSAGE }],
    }),
    hostDomains,
    defaultEngine,
    template: podTemplate(
      "Pod overrides of the gateway, as a fragment of a pod template. The container named envoy is the gateway itself.",
    ),
  },
  { description: "The gateway that clients connect to." },
);
export type InstanceGateway = Infer<typeof instanceGateway>;
