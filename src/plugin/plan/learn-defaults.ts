// The defaults of this cluster's operator, as far as running objects show them: values that no manifest sets came from
// its flags. Pure.
import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import type { V1StatefulSet } from "../../api/generated/kubernetes.ts";
import { type EngineSeccomp, OPERATOR_DEFAULTS, type OperatorDefaults } from "../../api/operator-defaults.ts";
import type { PodTemplateFragment } from "../../api/schema/pod-template.ts";
import { ENGINE_CONTAINER } from "../../engine/model/pod-contract.ts";

export interface Running {
  readonly engine: FireboltEngine | undefined;
  readonly engineClass: FireboltEngineClass | undefined;
  readonly statefulSet: V1StatefulSet | undefined;
}

export function learnDefaults({ engine, engineClass, statefulSet }: Running): OperatorDefaults {
  const container = statefulSet?.spec?.template.spec?.containers[0];
  if (container === undefined) return OPERATOR_DEFAULTS;
  const written = [engine?.spec?.template, engineClass?.spec?.template].map(engineContainerOf);
  const image = written.some((one) => one?.image) ? undefined : container.image;
  const context = written.some((one) => one?.securityContext !== undefined) ? undefined : container.securityContext;
  return {
    images: { ...OPERATOR_DEFAULTS.images, engine: image ?? OPERATOR_DEFAULTS.images.engine },
    engineSeccomp: context === undefined ? OPERATOR_DEFAULTS.engineSeccomp : seccompOf(context.seccompProfile),
  };
}

function seccompOf(profile: { readonly type: string; readonly localhostProfile?: string } | undefined): EngineSeccomp {
  if (profile?.type === "RuntimeDefault") return "RuntimeDefault";
  return profile?.type === "Localhost" ? `Localhost:${profile.localhostProfile ?? ""}` : "none";
}

function engineContainerOf(template: PodTemplateFragment | undefined) {
  return template?.spec?.containers?.find(({ name }) => name === ENGINE_CONTAINER);
}
