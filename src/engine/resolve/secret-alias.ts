// Volumes of the templates that would show an operator's Secret to user containers
// (docs/design/admission.md#protected-secrets): which they are, and a template without them. The rollout continues
// without such a volume; its mounts are dropped too, or the API server would reject the pods.

import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import type { V1Container } from "../../api/generated/kubernetes.ts";
import type { PodTemplateFragment } from "../../api/schema/pod-template.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import type { Violation } from "../../podtemplate/rules/violation.ts";
import { type OwnAccountRule, validateOwnAccount } from "../../podtemplate/secrets/own-account.ts";
import type { IsProtected } from "../../podtemplate/secrets/protected-secrets.ts";
import { secretsOfVolume, validateEnvironmentReach } from "../../podtemplate/secrets/secret-reach.ts";
import type { SecretAlias } from "../model/decision.ts";
import { OPERATOR_VOLUMES } from "../model/pod-contract.ts";

interface Layers {
  readonly engine: DeepReadonly<FireboltEngine>;
  readonly engineClass: DeepReadonly<FireboltEngineClass> | undefined;
}

/** Where the two templates are, as far as the engine's manifest can say. */
const [ENGINE_PATH, CLASS_PATH] = ["spec.template", "spec.engineClassRef.template"];

/** Of those volumes that the pods would get: the class's gives way to the engine's of the same name. */
export function findSecretAliases({ engine, engineClass }: Layers, isProtected: IsProtected): readonly SecretAlias[] {
  const own = engine.spec?.template?.spec?.volumes ?? [];
  const inherited = engineClass?.spec?.template.spec?.volumes ?? [];
  const taken = new Set([...OPERATOR_VOLUMES, ...own.map(({ name }) => name)]);
  const aliasesIn = (volumes: typeof own, path: string, isRendered: (name: string) => boolean) =>
    volumes.flatMap((volume, index) =>
      isRendered(volume.name)
        ? secretsOfVolume(volume)
            .filter(isProtected)
            .map((secret) => ({ path: `${path}.spec.volumes[${index}]`, volume: volume.name, secret }))
        : [],
    );
  return [
    ...aliasesIn(own, ENGINE_PATH, (name) => !OPERATOR_VOLUMES.has(name)),
    ...aliasesIn(inherited, CLASS_PATH, (name) => !taken.has(name)),
  ];
}

/** Variables cannot be left out without changing the environment of a container: they are rejected. */
export function validateEnvironment({ engine, engineClass }: Layers, isProtected: IsProtected): Violation[] {
  return [
    ...validateEnvironmentReach(engine.spec?.template, ENGINE_PATH, isProtected),
    ...validateEnvironmentReach(engineClass?.spec?.template, CLASS_PATH, isProtected),
  ];
}

/** The operator's own account, in the operator's own namespace. */
export function validateAccounts({ engine, engineClass }: Layers, rule: OwnAccountRule): Violation[] {
  return [
    ...validateOwnAccount(engine.spec?.template, ENGINE_PATH, rule),
    ...validateOwnAccount(engineClass?.spec?.template, CLASS_PATH, rule),
  ];
}

/** The template without the volumes of these names and without everything that mounts them. */
export function withoutVolumes(
  template: PodTemplateFragment | undefined,
  names: ReadonlySet<string>,
): PodTemplateFragment | undefined {
  const { spec } = template ?? {};
  if (spec === undefined || names.size === 0) return template;
  const { volumes, containers, initContainers } = spec;
  return {
    ...template,
    spec: {
      ...spec,
      ...(volumes === undefined ? {} : { volumes: volumes.filter(({ name }) => !names.has(name)) }),
      ...(containers === undefined ? {} : { containers: containers.map((entry) => withoutMounts(entry, names)) }),
      ...(initContainers === undefined
        ? {}
        : { initContainers: initContainers.map((entry) => withoutMounts(entry, names)) }),
    },
  };
}

function withoutMounts(container: V1Container, names: ReadonlySet<string>): V1Container {
  const { volumeMounts, volumeDevices } = container;
  return {
    ...container,
    ...(volumeMounts === undefined ? {} : { volumeMounts: volumeMounts.filter(({ name }) => !names.has(name)) }),
    ...(volumeDevices === undefined ? {} : { volumeDevices: volumeDevices.filter(({ name }) => !names.has(name)) }),
  };
}
