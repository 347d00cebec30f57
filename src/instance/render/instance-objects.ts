// All objects of an instance, by step and in the order in which they are written. A pure function of the instance, of
// the operator's settings and of the few facts below: it depends on no engine, no time and no other state of the
// cluster.
import type { DefaultImages } from "../../api/operator-defaults.ts";
import type { AccessLogMode } from "../../gateway/access-log.ts";
import type { WakeMode } from "../../gateway/wake-container.ts";
import { type Instance, identityOf, type Rendered } from "../model/children.ts";
import {
  renderGatewayBudget,
  renderGatewayConfigMap,
  renderGatewayConfigText,
  renderGatewayDeployment,
  renderGatewayService,
  type WakeAgentImage,
} from "./gateway.ts";
import { ownsGatewayIdentity, renderGatewayIdentity } from "./gateway-identity.ts";
import { type ComponentSeccomp, seccompOf } from "./hardening.ts";
import { renderMetadataDeployment, renderMetadataService } from "./metadata.ts";
import { type MetadataConfigFormat, renderMetadataConfig, renderMetadataConfigMap } from "./metadata-config.ts";
import { type PostgresInput, renderPostgresService, renderPostgresStatefulSet } from "./postgres.ts";
import { withoutUserIds } from "./user-ids.ts";

/** Settings from the command line for the objects of every instance. */
export interface RenderSettings {
  readonly images: Pick<DefaultImages, "metadata" | "postgres" | "envoy">;
  readonly metadataConfigFormat: MetadataConfigFormat;
  /**
   * Runs beside every gateway whose account the operator creates, and holds queries for stopped engines. Absent: such
   * queries get an error.
   */
  readonly wakeAgent?: WakeAgentImage;
  /** Default annotation. */
  readonly wakeMode?: WakeMode;
  /** Which requests gateways log; default all. */
  readonly gatewayAccessLog?: AccessLogMode;
  /** The ClusterRole that gateways are bound to; without it every instance has a Role of its own. */
  readonly gatewayClusterRole?: string;
  /** Default true. False: the cluster assigns users and groups of pods. */
  readonly componentUserIds?: boolean;
  /** Default RuntimeDefault. */
  readonly componentSeccomp?: ComponentSeccomp;
}

/** Facts about the history of an instance that its objects show. Empty for a new one. */
export interface RenderFacts {
  readonly postgres?: Pick<PostgresInput, "run" | "claimTemplate" | "lostClaim">;
  /** The gateway's account was replaced: earlier pods have tokens that are no longer valid. */
  readonly replacedAccountUid?: string | undefined;
}

export interface InstanceObjects {
  /** Empty with an external database. Its Secret is not rendered: it is created once. */
  readonly postgres: readonly Rendered[];
  readonly metadata: readonly Rendered[];
  readonly gateway: readonly Rendered[];
}

export function renderInstanceObjects(
  instance: Instance,
  settings: RenderSettings,
  facts: RenderFacts = {},
): InstanceObjects {
  const { spec } = instance;
  const { images, metadataConfigFormat: format, wakeMode = "annotation" } = settings;
  const identity = identityOf(instance);
  const metadataConfig = renderMetadataConfig({ identity, spec, format });
  const wakeAgent = ownsGatewayIdentity(spec) ? settings.wakeAgent : undefined;
  const envoyConfig = renderGatewayConfigText(identity, spec, {
    wake: wakeAgent !== undefined,
    accessLog: settings.gatewayAccessLog,
  });
  const objects: InstanceObjects = {
    postgres: databaseObjects(instance, settings, facts),
    metadata: [
      renderMetadataConfigMap({ identity, spec, format }),
      renderMetadataDeployment({ identity, spec, format, defaultImage: images.metadata, config: metadataConfig }),
      renderMetadataService(identity),
    ],
    gateway: [
      ...renderGatewayIdentity({
        identity,
        spec,
        hasWakeAgent: wakeAgent !== undefined,
        wakeMode,
        clusterRole: settings.gatewayClusterRole,
      }),
      renderGatewayConfigMap(identity, envoyConfig),
      renderGatewayDeployment({
        identity,
        spec,
        defaultImage: images.envoy,
        config: envoyConfig,
        wakeAgent,
        wakeMode,
        replacedAccountUid: facts.replacedAccountUid,
        seccompProfile: seccompOf(settings.componentSeccomp ?? "RuntimeDefault"),
      }),
      renderGatewayService(identity),
      renderGatewayBudget(identity),
    ],
  };
  return settings.componentUserIds === false ? withoutUserIds(objects) : objects;
}

/** The database alone: for an instance whose other components cannot be rendered. */
export function renderPostgresObjects(
  instance: Instance,
  settings: RenderSettings,
  facts: RenderFacts,
): readonly Rendered[] {
  const postgres = databaseObjects(instance, settings, facts);
  return settings.componentUserIds === false
    ? withoutUserIds({ postgres, metadata: [], gateway: [] }).postgres
    : postgres;
}

function databaseObjects(instance: Instance, { images }: RenderSettings, facts: RenderFacts): readonly Rendered[] {
  const { metadata } = instance.spec;
  if (metadata.postgres !== undefined) return [];
  const identity = identityOf(instance);
  const settings = metadata.builtInPostgres;
  return [
    renderPostgresStatefulSet({ identity, image: images.postgres, settings, ...facts.postgres }),
    renderPostgresService(identity),
  ];
}
