// Rules for an instance beyond its schema. Admission and the controller call the same functions; the caller decides
// what follows from a violation.
import { RESERVED_GATEWAY_PORTS, RESERVED_PORT_MESSAGE } from "../../api/gateway-ports.ts";
import { validateTemplate } from "../../podtemplate/rules/validate-template.ts";
import type { Violation } from "../../podtemplate/rules/violation.ts";
import { protectedSecrets } from "../../podtemplate/secrets/protected-secrets.ts";
import { validateSecretReach } from "../../podtemplate/secrets/secret-reach.ts";
import type { Instance } from "../model/children.ts";
import { canHaveChildren, LONGEST_NAME } from "../model/names.ts";
import { isXmlText } from "../render/xml.ts";

export interface InstanceViolations {
  readonly metadata: readonly Violation[];
  readonly gateway: readonly Violation[];
}

/** The rules that admission applies, in the order in which it lists them. */
export function validateInstance({ spec }: Instance): Violation[] {
  const { replicas, template, postgres } = spec.metadata;
  return [
    ...(replicas === undefined || replicas === 1
      ? []
      : [invalid("spec.metadata.replicas", replicas, "must be 1: the metadata service is a single writer")]),
    ...validateTemplate("metadata", template, "spec.metadata.template"),
    ...validateTemplate("gateway", spec.gateway.template, "spec.gateway.template"),
    ...validateMetricsPort(spec.gateway.metricsPort),
    ...(postgres !== undefined && !postgres.credentialsSecretRef.name
      ? [
          {
            path: "spec.metadata.postgres.credentialsSecretRef.name",
            type: "Required value" as const,
            detail: "name the Secret with the keys username and password",
          },
        ]
      : []),
    ...validateId(spec.id),
  ];
}

/** The controller's own check: what admission rejects in a template, and every way to a Secret of the operator. */
export function validateTemplates(instance: Instance): InstanceViolations {
  const { metadata, gateway } = instance.spec;
  const isProtected = protectedSecrets(instance);
  return {
    metadata: [
      ...validateTemplate("metadata", metadata.template, "spec.metadata.template"),
      ...validateSecretReach(metadata.template, "spec.metadata.template", isProtected),
    ],
    gateway: [
      ...validateMetricsPort(gateway.metricsPort),
      ...validateTemplate("gateway", gateway.template, "spec.gateway.template"),
      ...validateSecretReach(gateway.template, "spec.gateway.template", isProtected),
    ],
  };
}

/** For stored instances: names of new ones have stricter rules (validate-name.ts). */
export function validateName(name: string): Violation[] {
  if (canHaveChildren(name)) return [];
  const detail =
    `must have at most ${LONGEST_NAME} characters and has ${name.length}: objects of the instance carry it as a label value; ` +
    "create the instance under a shorter name and delete this one";
  return [invalid("metadata.name", name, detail)];
}

/** The CRD rejects it on every change; a stored object may have such a port from before. */
function validateMetricsPort(metricsPort: number | undefined): Violation[] {
  return metricsPort === undefined || !RESERVED_GATEWAY_PORTS.includes(metricsPort)
    ? []
    : [invalid("spec.gateway.metricsPort", metricsPort, RESERVED_PORT_MESSAGE)];
}

/** Any string is valid as an account id, as long as a configuration file can hold it. */
export function validateId(id: string | undefined): Violation[] {
  return id === undefined || isXmlText(id)
    ? []
    : [invalid("spec.id", id, "must not contain control characters: it is written to a configuration file")];
}

function invalid(path: string, value: unknown, detail: string): Violation {
  return { path, type: "Invalid value", value, detail };
}
