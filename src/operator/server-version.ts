// Reads the version of the API server once, at startup. Before Kubernetes 1.30 a preStop hook has no sleep action, so
// the wake agent runs the `sleep` subcommand of this program there.
import type { Logger } from "@firebolt-operator/kube";
import type { KubeClient } from "@firebolt-operator/kube/client";

const SLEEP_ACTION_MINOR = 30;

export interface VersionRequest {
  readonly client: KubeClient;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** The command of the `sleep` subcommand when the API server has no sleep action, otherwise undefined. */
export async function sleepCommandFor(request: VersionRequest): Promise<readonly string[] | undefined> {
  const { client, logger, signal } = request;
  const minor = minorOf(await client.request({ method: "GET", path: "/version", signal }));
  if (minor === undefined) {
    logger.info("the API server does not report its version: assuming a current one");
    return undefined;
  }
  if (minor >= SLEEP_ACTION_MINOR) return undefined;
  logger.info("the API server has no sleep action: wake agents run the sleep subcommand", { minor });
  // The agent's image is the operator's own, so this command exists there too.
  return ownCommand(process.execPath, process.argv[1]);
}

/** `{"major":"1","minor":"29+"}`: vendors append signs to the number. Another major version is newer than every 1.x. */
export function minorOf(version: unknown): number | undefined {
  if (typeof version !== "object" || version === null || !("major" in version) || !("minor" in version))
    return undefined;
  if (version.major !== "1" || typeof version.minor !== "string") return undefined;
  const digits = /^\d+/.exec(version.minor)?.[0];
  return digits === undefined ? undefined : Number(digits);
}

export function ownCommand(program: string, script: string | undefined): readonly string[] {
  return [program, ...(script === undefined ? [] : [script]), "sleep"];
}
