// The version of this build. The bundler replaces the names; from source they are "dev".

declare const FIREBOLT_OPERATOR_VERSION: string | undefined;
declare const FIREBOLT_OPERATOR_REVISION: string | undefined;

export const VERSION = typeof FIREBOLT_OPERATOR_VERSION === "string" ? FIREBOLT_OPERATOR_VERSION : "dev";
export const REVISION = typeof FIREBOLT_OPERATOR_REVISION === "string" ? FIREBOLT_OPERATOR_REVISION : "unknown";
