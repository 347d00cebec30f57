// The Secret in which replicas share the self-managed root and serving certificate. Several may start at once: only one
// create succeeds, and an update applies only to the version that was read. Makes no decisions about certificates.
import type { CallOptions, KubeClient } from "../../client/client.ts";
import { isAlreadyExists, isConflict } from "../../core/errors.ts";
import type { ObjectKey } from "../../core/object.ts";
import { Secret } from "../../kinds/index.ts";
import type { V1Secret } from "../../kinds/kubernetes.ts";
import type { Material } from "./plan.ts";

/** The Secret as read; required to replace it. */
export interface StoredMaterial {
  readonly secret: V1Secret | undefined;
  /** Undefined if the Secret does not exist or is incomplete. */
  readonly material: Material | undefined;
}

const KEYS = {
  rootCertificate: "ca.crt",
  rootKey: "ca.key",
  leafCertificate: "tls.crt",
  leafKey: "tls.key",
  nextCertificate: "next-ca.crt",
  nextKey: "next-ca.key",
  previousCertificate: "previous-ca.crt",
} as const;

export async function readMaterial(client: KubeClient, key: ObjectKey, options: CallOptions): Promise<StoredMaterial> {
  const secret = await client.find(Secret, key, options);
  return { secret, material: decodeMaterial(secret?.data ?? {}) };
}

/** "conflict": another replica was first; read what it wrote. */
export async function writeMaterial(
  client: KubeClient,
  target: { readonly key: ObjectKey; readonly fieldManager: string; readonly stored: StoredMaterial },
  material: Material,
  options: CallOptions,
): Promise<"written" | "conflict"> {
  const { key, fieldManager, stored } = target;
  const call = { ...options, fieldManager };
  try {
    if (stored.secret === undefined) {
      const metadata = { ...key };
      await client.create(Secret, { metadata, type: "kubernetes.io/tls", data: encodeMaterial(material) }, call);
    } else {
      const data = { ...otherEntries(stored.secret.data ?? {}), ...encodeMaterial(material) };
      await client.replace(Secret, { ...stored.secret, data }, call);
    }
    return "written";
  } catch (error) {
    if (isAlreadyExists(error) || isConflict(error)) return "conflict";
    throw error;
  }
}

function decodeMaterial(data: Readonly<Record<string, string>>): Material | undefined {
  const text = (name: string): string => Buffer.from(data[name] ?? "", "base64").toString("utf8");
  const pair = (certificate: string, key: string) => ({ certificate: text(certificate), key: text(key) });
  const root = pair(KEYS.rootCertificate, KEYS.rootKey);
  const next = pair(KEYS.nextCertificate, KEYS.nextKey);
  const previous = text(KEYS.previousCertificate);
  if (root.certificate === "") return undefined;
  return {
    root,
    leaf: pair(KEYS.leafCertificate, KEYS.leafKey),
    ...(next.certificate === "" ? {} : { next }),
    ...(previous === "" ? {} : { previous }),
  };
}

function encodeMaterial({ root, leaf, next, previous }: Material): Record<string, string> {
  const entries: Readonly<Record<string, string | undefined>> = {
    [KEYS.rootCertificate]: root.certificate,
    [KEYS.rootKey]: root.key,
    [KEYS.leafCertificate]: leaf.certificate,
    [KEYS.leafKey]: leaf.key,
    [KEYS.nextCertificate]: next?.certificate,
    [KEYS.nextKey]: next?.key,
    [KEYS.previousCertificate]: previous,
  };
  return Object.fromEntries(
    Object.entries(entries).flatMap(([name, text]) =>
      text === undefined ? [] : [[name, Buffer.from(text, "utf8").toString("base64")]],
    ),
  );
}

/** Preserves other entries of the Secret. */
function otherEntries(data: Readonly<Record<string, string>>): Record<string, string> {
  const ours: readonly string[] = Object.values(KEYS);
  return Object.fromEntries(Object.entries(data).filter(([name]) => !ours.includes(name)));
}
