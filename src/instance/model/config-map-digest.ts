// ConfigMaps as the cache keeps them: a digest in place of each value. The values are large, and only compared.
import { createHash } from "node:crypto";

export function digestData(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, digest(text)]));
}

function digest(text: string): string {
  return `sha256:${createHash("sha256").update(text, "utf8").digest("hex")}`;
}
