// Rules for the key of a certificate that cert-manager issues: for token signing and for TLS listeners.

import { SCHEMA_DEFAULTS } from "../../api/defaults.ts";
import type { CertManager } from "../../api/firebolt-instance/cert-manager.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import type { Violation } from "../../podtemplate/rules/violation.ts";

const KEY_SIZES = { RSA: [2048, 4096, 8192], ECDSA: [256, 384, 521] } as const;

/** 0 counts as the default. */
export function keySize({ size }: DeepReadonly<CertManager>): number {
  return size === 0 ? SCHEMA_DEFAULTS.certManager.size : size;
}

/** `path` is where the certManager block is. */
export function validateKeySize(certManager: DeepReadonly<CertManager>, path: string): Violation[] {
  const allowed: readonly number[] = KEY_SIZES[certManager.algorithm];
  if (allowed.includes(keySize(certManager))) return [];
  const detail = `a key of algorithm ${certManager.algorithm} must have a size of ${orList(allowed)}`;
  return [{ path: `${path}.size`, type: "Invalid value", value: certManager.size, detail }];
}

/** `a, b or c` */
export function orList(values: readonly (string | number)[]): string {
  return values.length < 2 ? values.join("") : `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`;
}
