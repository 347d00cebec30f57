// Requests that the operator repeats while something takes its time, so that tests of request counts hold on a slow machine.

/** Why a StatefulSet has no pods yet, and whether pods that drain are idle. One request in five seconds is allowed. */
export const REPEATED_REQUESTS: ReadonlySet<string> = new Set(["list events", "get pods/proxy"]);
export const REPEATED_EVERY_MS = 5_000;
