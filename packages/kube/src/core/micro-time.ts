// Kubernetes' MicroTime, as used by leases and events.

/** RFC 3339 in UTC with six decimals. */
export function microTime(epochMs: number): string {
  const wholeMs = Math.floor(epochMs);
  const micros = Math.floor((epochMs - wholeMs) * 1000);
  return new Date(wholeMs).toISOString().replace("Z", `${String(micros).padStart(3, "0")}Z`);
}
