// The operator's own account, from its token, and the Secret of its webhooks. Templates may use neither.
import { readFileSync } from "node:fs";
import type { ClusterConfig } from "@firebolt-operator/kube/client";
import type { OperatorIdentity } from "../../api/operator-defaults.ts";

export interface IdentityInput {
  readonly config: Pick<ClusterConfig, "authentication">;
  /** The operator's own namespace; undefined when it is unknown. */
  readonly namespace: string | undefined;
  /** Secret of the webhook certificate; empty when the certificate comes from files. */
  readonly webhookSecret: string;
  /** Replaced by tests. */
  readonly readFile?: (path: string) => string;
}

export function operatorIdentity(input: IdentityInput): OperatorIdentity | undefined {
  const { config, namespace, webhookSecret, readFile = (path) => readFileSync(path, "utf8") } = input;
  if (!namespace) return undefined;
  const { authentication } = config;
  const account = authentication?.type === "tokenFile" ? accountOf(readFile(authentication.path)) : undefined;
  return { namespace, account, secrets: webhookSecret === "" ? [] : [webhookSecret] };
}

/** The service account of a token; undefined for tokens that are not JSON Web Tokens or have another subject. */
export function accountOf(token: string): OperatorIdentity["account"] {
  const payload = token.trim().split(".")[1];
  if (payload === undefined) return undefined;
  const subject = subjectOf(Buffer.from(payload, "base64url").toString("utf8"));
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(subject) ?? [];
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}

function subjectOf(text: string): string {
  try {
    const claims: unknown = JSON.parse(text);
    const subject: unknown = typeof claims === "object" && claims !== null ? Reflect.get(claims, "sub") : undefined;
    return typeof subject === "string" ? subject : "";
  } catch (error) {
    if (error instanceof SyntaxError) return "";
    throw error;
  }
}
