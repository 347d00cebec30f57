// The files of a support bundle, built from what was collected. Everything is redacted here: strings are scrubbed one
// by one, inside the objects, before they are serialised. Pure.
import type { KubeObject } from "@firebolt-operator/kube";
import { nameOf } from "../cluster/find-object.ts";
import { dataText } from "../terminal/output.ts";
import { type Gap, gapText } from "./gaps.ts";
import { redactFields, redactObject } from "./redact.ts";
import type { Scrubber } from "./scrub.ts";
import type { TarFile } from "./tar.ts";

export interface CollectedLog {
  /** In the archive. */
  readonly path: string;
  /** As the container wrote it. */
  readonly text: string;
}

export interface BundleContent {
  readonly objects: readonly KubeObject[];
  readonly events: readonly object[];
  readonly versions: object;
  /** The tree that `status` prints. */
  readonly status: string;
  readonly logs: readonly CollectedLog[];
  /** What could not be read, and why. */
  readonly gaps: readonly Gap[];
}

export async function assembleBundle(content: BundleContent, scrubber: Scrubber): Promise<readonly TarFile[]> {
  const { objects, events, versions, status, logs, gaps } = content;
  const json = (value: unknown): Promise<string> => dataText(redactFields(value, "", scrubber), "json");
  return [
    { path: "status.txt", content: scrubber.text(status) },
    { path: "versions.json", content: await json(versions) },
    { path: "events.json", content: await json(events) },
    ...(await Promise.all(objects.map((object) => objectFile(object, scrubber)))),
    ...logs.map(({ path, text }) => ({ path, content: scrubber.text(text) })),
    { path: "gaps.txt", content: gaps.map((gap) => `${gapText(gap, scrubber)}\n`).join("") },
  ];
}

async function objectFile(object: KubeObject, scrubber: Scrubber): Promise<TarFile> {
  const kind = (object.kind ?? "object").toLowerCase();
  const path = `objects/${kind}/${nameOf(object)}.yaml`;
  return { path, content: await dataText(redactObject(object, scrubber), "yaml") };
}
