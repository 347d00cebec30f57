// The flags that replace built-in defaults: images, the engine's seccomp profile, the format of the metadata configuration. Telemetry
// is not built: its flags are taken so that existing command lines work, and the log says that nothing is sent.
import { OPERATOR_DEFAULTS, type OperatorDefaults, parseEngineSeccomp } from "../api/operator-defaults.ts";
import type { WakeAgentImage } from "../instance/render/gateway.ts";
import type { MetadataConfigFormat } from "../instance/render/metadata-config.ts";
import { oneOf } from "./flag-checks.ts";
import type { FlagTable, FlagValues } from "./flags.ts";

const { images } = OPERATOR_DEFAULTS;
const image = (what: string, reference: string) =>
  ({ type: "string", default: reference, help: `image of ${what} where no template names one` }) as const;

export const DEFAULT_FLAGS = {
  "default-image-engine": image("engines", images.engine),
  "default-image-metadata": image("the metadata service", images.metadata),
  "default-image-envoy": image("the gateway", images.envoy),
  "default-image-postgres": image("PostgreSQL", images.postgres),
  "default-image-engine-web": image("the web UI", images.engineWeb),
  "engine-seccomp": {
    type: "string",
    default: "none",
    help: "seccomp profile of engines: none, RuntimeDefault or Localhost:<profile>; a change rolls them",
    check: (value) =>
      parseEngineSeccomp(value) === undefined ? "must be none, RuntimeDefault or Localhost:<profile>" : undefined,
  },
  "metadata-config-format": {
    type: "string",
    default: "xml",
    help: "what the metadata image reads: xml or yaml",
    check: oneOf("xml", "yaml"),
  },
  "wake-agent-image": {
    type: "string",
    default: "",
    help: "image of the wake agent beside gateways (the operator's own); empty means that stopped engines are not woken by queries",
  },
  "wake-agent-image-pull-policy": {
    type: "string",
    default: "",
    help: "its pull policy; empty goes by the tag",
    check: oneOf("", "Always", "IfNotPresent", "Never"),
  },
  telemetry: { type: "boolean", default: "false", help: "accepted; there is no telemetry" },
  "telemetry-endpoint": { type: "string", default: "", help: "accepted; there is no telemetry" },
} as const satisfies FlagTable;

type DefaultFlags = FlagValues<typeof DEFAULT_FLAGS>;

/** An empty image means the built-in one, so that a chart can pass its values as they are. */
export function operatorDefaultsOf(flags: DefaultFlags): OperatorDefaults {
  return {
    images: {
      engine: flags["default-image-engine"] || images.engine,
      metadata: flags["default-image-metadata"] || images.metadata,
      envoy: flags["default-image-envoy"] || images.envoy,
      postgres: flags["default-image-postgres"] || images.postgres,
      engineWeb: flags["default-image-engine-web"] || images.engineWeb,
    },
    engineSeccomp: parseEngineSeccomp(flags["engine-seccomp"]) ?? "none",
  };
}

export function metadataConfigFormatOf(flags: DefaultFlags): MetadataConfigFormat {
  return flags["metadata-config-format"] === "yaml" ? "yaml" : "xml";
}

/** Undefined: gateways hold no queries. */
export function wakeAgentOf(flags: DefaultFlags): WakeAgentImage | undefined {
  const [image, pullPolicy] = [flags["wake-agent-image"], flags["wake-agent-image-pull-policy"]];
  return image === "" ? undefined : { image, pullPolicy };
}
