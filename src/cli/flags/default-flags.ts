// The flags that replace built-in defaults: images and the engine's seccomp profile. There is no telemetry: its flags
// are accepted so that existing command lines work, and the log says that nothing is sent.
import { OPERATOR_DEFAULTS, type OperatorDefaults, parseEngineSeccomp } from "../../api/operator-defaults.ts";
import type { FlagTable, FlagValues } from "./flag-table.ts";

const { images } = OPERATOR_DEFAULTS;
const image = (what: string, reference: string) =>
  ({ type: "string", default: reference, help: `image of ${what} when the template sets none` }) as const;

export const DEFAULT_FLAGS = {
  "default-image-engine": image("engines", images.engine),
  "default-image-metadata": image("the metadata service", images.metadata),
  "default-image-envoy": image("the gateway", images.envoy),
  "default-image-postgres": image("PostgreSQL", images.postgres),
  "default-image-engine-web": image("the web UI", images.engineWeb),
  "engine-seccomp": {
    type: "string",
    default: "none",
    help: "seccomp profile of engines: none, RuntimeDefault or Localhost:<profile>; a change rolls all engines",
    check: (value) =>
      parseEngineSeccomp(value) === undefined ? "must be none, RuntimeDefault or Localhost:<profile>" : undefined,
  },
  telemetry: { type: "boolean", default: "false", help: "no effect: telemetry is not implemented" },
  "telemetry-endpoint": { type: "string", default: "", help: "no effect: telemetry is not implemented" },
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
