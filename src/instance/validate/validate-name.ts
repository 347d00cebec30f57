// Rules for the name of a new instance. Its objects are named after it, and their own errors would not explain the
// cause. Only for instances to be created: the name of a stored one cannot change, and nothing may prevent its
// deletion.
import type { Violation } from "../../podtemplate/rules/violation.ts";
import type { Instance } from "../model/children.ts";
import { metadataName, postgresName } from "../model/names.ts";

/** Of a Service, and of the label value that every object of the instance carries. */
const LONGEST_LABEL = 63;
/** Pods of a StatefulSet carry its name and a hash of ten characters as a label. */
const LONGEST_STATEFUL_SET = 52;
const NAME = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;

/** The longest name of an instance: with the built-in PostgreSQL a StatefulSet is named after it. */
export function longestInstanceName({ spec }: Pick<Instance, "spec">): number {
  return spec.metadata.postgres === undefined
    ? LONGEST_STATEFUL_SET - postgresName("").length
    : LONGEST_LABEL - metadataName("").length;
}

export function validateInstanceName(instance: Instance): Violation[] {
  const name = instance.metadata?.name ?? "";
  const longest = longestInstanceName(instance);
  const violation = (detail: string): Violation => ({
    path: "metadata.name",
    type: "Invalid value",
    value: name,
    detail,
  });
  const made = instance.spec.metadata.postgres === undefined ? "StatefulSet of its PostgreSQL" : "Services";
  return [
    ...(name.length > longest
      ? [
          violation(
            `has ${name.length} characters, at most ${longest} are allowed: the name of the ${made} is derived from it`,
          ),
        ]
      : []),
    ...(NAME.test(name)
      ? []
      : [
          violation(
            "must start with a lower-case letter, end with a letter or digit and contain only lower-case letters, digits " +
              "and '-': the instance's Services are named after it",
          ),
        ]),
  ];
}
