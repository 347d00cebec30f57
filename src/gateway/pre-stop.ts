// What a gateway pod does between the decision to end it and the signal that ends it. The instance renderer puts the command
// into the pod's preStop hook, and the time that it may take into the pod's grace period.
import { GATEWAY_PORTS } from "./ports.ts";

/** Long enough for two failed readiness probes and for the endpoints to change. */
const LEAVING_SECONDS = 8;

/** Autoscalers of nodes wait no longer than this for a pod. A gateway without queries needs a few seconds of it. */
export const GATEWAY_GRACE_SECONDS = 600;

/** Leaves time for Envoy to end by itself. */
const LONGEST_WAIT_SECONDS = GATEWAY_GRACE_SECONDS - 15;

/**
 * Fails the health check, so that no new traffic comes, and waits until the queries that are there have been answered: Envoy ends at
 * once when it is told to, and cuts them. The image has bash and no HTTP client.
 */
export function renderPreStopCommand(adminPort: number = GATEWAY_PORTS.admin): readonly string[] {
  return ["bash", "-c", preStopScript(adminPort)];
}

const HEADERS = ["HTTP/1.1", "Host: 127.0.0.1", "Content-Length: 0", "Connection: close", "", ""].join("\\r\\n");
const ACTIVE = "/stats?filter=^http[.]gateway[.]downstream_rq_active$";

function preStopScript(adminPort: number): string {
  return [
    "ask() {",
    `  exec 3<>/dev/tcp/127.0.0.1/${adminPort} || return`,
    `  printf '%s ${HEADERS}' "$1" >&3`,
    "  cat <&3",
    "  exec 3>&-",
    "}",
    // An unreachable administration must not shorten the wait: the pod is leaving the Service either way.
    "ask 'POST /healthcheck/fail' >/dev/null",
    `sleep ${LEAVING_SECONDS}`,
    `while [[ $SECONDS -lt ${LONGEST_WAIT_SECONDS} && "$(ask 'GET ${ACTIVE}')" == *'rq_active: '[1-9]* ]]; do`,
    "  sleep 1",
    "done",
    "",
  ].join("\n");
}
