// What a gateway pod does between the decision to end it and the signal that ends it. The instance renderer puts the command
// into the pod's preStop hook.
import { GATEWAY_PORTS } from "./ports.ts";

/** Long enough for two failed readiness probes, for the endpoints to change and for short queries to end. */
const DRAIN_SECONDS = 8;

/**
 * Fails the health check, so that no new traffic comes, and lets what is there finish. The image has bash and no HTTP client.
 */
export function renderPreStopCommand(adminPort: number = GATEWAY_PORTS.admin): readonly string[] {
  return ["bash", "-c", preStopScript(adminPort)];
}

const REQUEST = [
  "POST /healthcheck/fail HTTP/1.1",
  "Host: 127.0.0.1",
  "Content-Length: 0",
  "Connection: close",
  "",
  "",
].join("\\r\\n");

function preStopScript(adminPort: number): string {
  return [
    // An unreachable administration must not shorten the wait: the pod is leaving the Service either way.
    `if exec 3<>/dev/tcp/127.0.0.1/${adminPort}; then`,
    `  printf '${REQUEST}' >&3`,
    "  cat <&3 >/dev/null",
    "  exec 3>&-",
    "fi",
    `sleep ${DRAIN_SECONDS}`,
    "",
  ].join("\n");
}
