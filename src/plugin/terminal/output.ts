// Output for programs: JSON, YAML and names.
import { apiVersionOf, type KubeObject, type ResourceType } from "@firebolt-operator/kube";

export type DataFormat = "json" | "yaml";

export const isDataFormat = (format: string): format is DataFormat => format === "json" || format === "yaml";

/** Control characters that JSON allows in a string and that a terminal interprets. */
const UNESCAPED = /[\u007f-\u009f\u2028\u2029\p{Bidi_Control}]/gu;
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Loads the YAML writer only when it is needed: most calls print tables. */
export async function dataText(value: unknown, format: DataFormat): Promise<string> {
  if (format === "json") return `${JSON.stringify(value, null, 4).replace(UNESCAPED, escaped)}\n`;
  const { stringify } = await import("yaml");
  const text = stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
  // The writer puts strings with control characters in double quotes, and there an escape means the same.
  return text.replace(/[\u007f-\u009f]/g, escaped);
}

/** As kubectl prints a list. Objects of a list come without their kind; everything else is as the server sent it. */
export function listObject<T extends KubeObject>(type: ResourceType<T>, items: readonly T[]): object {
  return {
    apiVersion: "v1",
    items: items.map((item) => ({ apiVersion: apiVersionOf(type), kind: type.kind, ...item })),
    kind: "List",
    metadata: { resourceVersion: "" },
  };
}
