// What the operator would do with a changed instance, by its own validation and by the objects rendered before and
// after. Pure.
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { OPERATOR_DEFAULTS } from "../../api/operator-defaults.ts";
import type { FieldDifference } from "../../engine/drift/find-drift.ts";
import type { Rendered } from "../../instance/model/children.ts";
import {
  type InstanceObjects,
  type RenderSettings,
  renderInstanceObjects,
} from "../../instance/render/instance-objects.ts";
import { validateInstanceSpec } from "../../instance/validate/validate-spec.ts";
import { changedPaths } from "./changed-paths.ts";
import type { Effect } from "./effect.ts";
import { sameJson } from "./three-way.ts";
import { safeViolationText } from "./without-values.ts";

/** The same on both sides, so that only the change shows. */
const SETTINGS: RenderSettings = { images: OPERATOR_DEFAULTS.images, metadataConfigFormat: "xml" };

const HOW = {
  postgres: "the PostgreSQL pod restarts: metadata is unavailable until it is ready, and running queries may fail",
  metadata:
    "the metadata pod is replaced (it is a single writer, so the old one stops first): a short outage of metadata",
  gateway: "the gateway pods are replaced one at a time, without reducing their number",
} as const;

export function planInstance(before: FireboltInstance | undefined, after: FireboltInstance): Effect {
  const problems = validateInstanceSpec(after, before).map(safeViolationText);
  if (problems.length > 0) return { type: "refused", by: "operator", problems };
  if (before === undefined) return { type: "creates", what: "metadata service and gateway" };
  const [was, is] = [renderInstanceObjects(before, SETTINGS), renderInstanceObjects(after, SETTINGS)];
  const steps = (["postgres", "metadata", "gateway"] as const).map((step) => ({ step, ...compare(was, is, step) }));
  const rolling = steps.filter(({ rolls }) => rolls);
  const fields = changedPaths(before.spec, after.spec, "spec").map(
    (path): FieldDifference => ({ path, live: "", wanted: "" }),
  );
  const left =
    was.postgres.length > 0 && is.postgres.length === 0
      ? ["the built-in PostgreSQL is deleted; its claim and its Secret are kept"]
      : [];
  if (rolling.length > 0)
    return {
      type: "rolls",
      what: rolling.map(({ step }) => step).join(" and "),
      fields,
      how: [...rolling.map(({ step }) => HOW[step]), ...left],
    };
  const changed = steps.filter(({ changes }) => changes).map(({ step }) => `objects of ${step}`);
  const settings = [...changed, ...left, ...(changed.length === 0 ? fields.map(({ path }) => path) : [])];
  return settings.length === 0 ? { type: "nothing" } : { type: "live", settings };
}

function compare(was: InstanceObjects, is: InstanceObjects, step: keyof InstanceObjects) {
  const changes = is[step].some((object) => !sameJson(object, counterpart(was[step], object)));
  const rolls = is[step].some((object) => {
    const before = counterpart(was[step], object);
    return "spec" in object && before !== undefined && !sameJson(podTemplate(object), podTemplate(before));
  });
  return { changes, rolls };
}

const counterpart = (objects: readonly Rendered[], { kind, metadata }: Rendered): Rendered | undefined =>
  objects.find((one) => one.kind === kind && one.metadata.name === metadata.name);

function podTemplate(object: Rendered): unknown {
  return object.kind === "Deployment" || object.kind === "StatefulSet" ? object.spec?.template : undefined;
}
