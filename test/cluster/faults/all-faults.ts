// Every fault there is, by what it disturbs.
import { CHILD_FAULTS } from "./child-faults.ts";
import { DATABASE_FAULTS } from "./database-faults.ts";
import { DELETION_FAULTS } from "./deletion-faults.ts";
import { ENGINE_FAULTS, LIMIT_FAULTS } from "./engine-faults.ts";
import type { Fault } from "./fault.ts";
import { GATEWAY_FAULTS } from "./gateway-faults.ts";
import { OPERATOR_FAULTS } from "./operator-faults.ts";
import { QUERY_FAULTS } from "./query-faults.ts";
import { REFUSAL_FAULTS } from "./refusal-faults.ts";

/** Each has its own namespace, instance or engine: they can run at the same time. */
export const SEPARATE_FAULTS: readonly Fault[] = [
  ...GATEWAY_FAULTS,
  ...DATABASE_FAULTS,
  ...LIMIT_FAULTS,
  ...ENGINE_FAULTS,
  ...CHILD_FAULTS,
  ...QUERY_FAULTS,
  ...REFUSAL_FAULTS,
  ...DELETION_FAULTS,
];

export const FAULTS: readonly Fault[] = [...SEPARATE_FAULTS, ...OPERATOR_FAULTS];
