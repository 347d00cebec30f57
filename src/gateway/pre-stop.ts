// The preStop hook of a gateway pod: what it does between the deletion of the pod and the termination signal. The
// instance renderer puts the command into the pod, and its duration into the pod's grace period.
import { GATEWAY_PORTS } from "./ports.ts";

/** Long enough for two failed readiness probes and for the endpoints to be updated. */
const LEAVING_SECONDS = 8;

/** Node autoscalers wait no longer than this for a pod. A gateway without queries needs a few seconds of it. */
export const GATEWAY_GRACE_SECONDS = 600;

/** Leaves time for Envoy to exit by itself. */
const LONGEST_WAIT_SECONDS = GATEWAY_GRACE_SECONDS - 15;

/**
 * Fails the health check, so that no new traffic arrives, and waits until the running queries have got their responses:
 * Envoy exits at once on the termination signal, and aborts them. The image has bash and no HTTP client.
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
    // An admin interface that does not respond must not shorten the wait: the pod is removed from the Service either
    // way.
    "ask 'POST /healthcheck/fail' >/dev/null",
    `sleep ${LEAVING_SECONDS}`,
    `while [[ $SECONDS -lt ${LONGEST_WAIT_SECONDS} && "$(ask 'GET ${ACTIVE}')" == *'rq_active: '[1-9]* ]]; do`,
    "  sleep 1",
    "done",
    "",
  ].join("\n");
}
