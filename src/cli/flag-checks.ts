// Checks that flags share: each answers what is wrong with a value, or nothing.

export type FlagCheck = (value: string) => string | undefined;

export const oneOf =
  (...allowed: readonly string[]): FlagCheck =>
  (value) =>
    allowed.includes(value) ? undefined : `must be one of ${allowed.join(", ")}`;

export const bindAddress: FlagCheck = (value) =>
  value === "0" || /^(\[[0-9a-fA-F:]+\]|[^:]*):\d{1,5}$/.test(value)
    ? undefined
    : "must be host:port, :port, or 0 to disable";

export const notNegative: FlagCheck = (value) => (value.trim().startsWith("-") ? "must not be negative" : undefined);

export const port: FlagCheck = (value) =>
  /^\d+$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535 ? undefined : "must be a port from 1 to 65535";
