// Checks that flags share: each returns the problem with a value, or undefined.

export type FlagCheck = (value: string) => string | undefined;

export const oneOf =
  (...allowed: readonly string[]): FlagCheck =>
  (value) =>
    allowed.includes(value) ? undefined : `must be one of ${allowed.join(", ")}`;

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Blanks and empty entries are skipped; the rest must be valid names. */
export const namespaceNames: FlagCheck = (value) => {
  const names = value.split(",").map((name) => name.trim());
  const bad = names.find((name) => name !== "" && !DNS_LABEL.test(name));
  return bad === undefined ? undefined : `${JSON.stringify(bad)} is not a valid namespace name`;
};

export const bindAddress: FlagCheck = (value) =>
  value === "0" || /^(\[[0-9a-fA-F:]+\]|[^:]*):\d{1,5}$/.test(value)
    ? undefined
    : "must be host:port, :port, or 0 to disable";

/** As the API server validates names of roles: one path segment. */
export const roleName: FlagCheck = (value) =>
  /[/%]/.test(value) || value === "." || value === ".."
    ? "must be the name of a ClusterRole, without / and %"
    : undefined;

export const notNegative: FlagCheck = (value) => (value.trim().startsWith("-") ? "must not be negative" : undefined);

export const port: FlagCheck = (value) =>
  /^\d+$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535 ? undefined : "must be a port from 1 to 65535";
