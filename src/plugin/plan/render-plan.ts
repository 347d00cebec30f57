// Renders a plan: one paragraph per object with its changes and their effect, and a summary line. Pure.
import type { FieldDifference } from "../../engine/drift/find-drift.ts";
import { padVisible, type Style } from "../terminal/style.ts";
import { affectedBy, type Effect, type PlannedEffect } from "./effect.ts";

export function planText(planned: readonly PlannedEffect[], skipped: readonly string[], style: Style): string {
  const blocks = planned.map((one) =>
    objectLines(one, style)
      .map((line) => `${line}\n`)
      .join(""),
  );
  const others = skipped.map((what) => `${style.dim(`${what}: not a Firebolt resource, skipped`)}\n`).join("");
  return [...blocks, others, `${summary(planned, style)}\n`].filter((block) => block !== "").join("\n");
}

function objectLines(
  { kind, namespace, name, effect, consequences, warnings }: PlannedEffect,
  style: Style,
): readonly string[] {
  return [
    `${style.bold(`${kind} ${namespace}/${name}`)}: ${effect.type === "nothing" && consequences.length > 0 ? reachText(consequences.length) : headline(effect, style)}`,
    ...details(effect, style).map((line) => `  ${line}`),
    ...warnings.map((warning) => `  ${style.yellow("!")} ${warning}`),
    ...consequences.flatMap((one) => [
      `  ${style.bold(`${one.kind} ${one.name}`)}: ${headline(one.effect, style)}`,
      ...details(one.effect, style).map((line) => `    ${line}`),
    ]),
  ];
}

const reachText = (count: number): string => `affects ${count} ${count === 1 ? "engine" : "engines"}`;

function headline(effect: Effect, style: Style): string {
  switch (effect.type) {
    case "nothing":
      return style.dim("nothing rolls");
    case "live":
      return style.green("takes effect without a restart");
    case "creates":
      return style.green(`new: ${effect.what}`);
    case "rolls":
      return style.yellow(`rolls: ${effect.what}`);
    case "waits":
      return style.yellow(`accepted, but held (${effect.reason})`);
    case "refused":
      return style.red(`rejected by the ${effect.by}`);
    default:
      return effect satisfies never;
  }
}

function details(effect: Effect, style: Style): readonly string[] {
  switch (effect.type) {
    case "nothing":
    case "creates":
      return [];
    case "live":
      return effect.settings.map((text) => `${style.green("~")} ${text}`);
    case "rolls":
      return [...fieldLines(effect.fields, style), ...effect.how.map((text) => style.dim(text))];
    case "waits":
      return [effect.message];
    case "refused":
      return effect.problems.map((text) => `${style.red("✗")} ${text}`);
    default:
      return effect satisfies never;
  }
}

function fieldLines(fields: readonly FieldDifference[], style: Style): readonly string[] {
  const width = Math.max(0, ...fields.map(({ path }) => path.length));
  return fields.map(({ path, live, wanted }) => {
    const values =
      live === "" && wanted === "" ? "" : live === wanted ? `  ${style.dim("(changed)")}` : `  ${live} → ${wanted}`;
    return `${style.yellow("~")} ${padVisible(path, values === "" ? 0 : width)}${values}`;
  });
}

const COUNTED = {
  creates: "new",
  rolls: "rolling",
  live: "live",
  waits: "waiting",
  refused: "refused",
  nothing: "without effect",
} as const satisfies Record<Effect["type"], string>;

function summary(planned: readonly PlannedEffect[], style: Style): string {
  const affected = affectedBy(planned);
  const text = Object.entries(COUNTED)
    .map(([type, what]) => ({ what, count: affected.filter(({ effect }) => effect.type === type).length }))
    .filter(({ count }) => count > 0)
    .map(({ what, count }) => `${count} ${what}`)
    .join(", ");
  return `${style.bold("Plan:")} ${text === "" ? "nothing to do" : text}. Nothing has been written.`;
}
