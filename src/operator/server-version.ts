// What the version of the API server decides: before Kubernetes 1.30 a container cannot just sleep in its preStop hook, so the wake agent
// runs this very program's `sleep` there. Asked once, at the start.
import type { Logger } from "@firebolt-operator/kube";
import type { KubeClient } from "@firebolt-operator/kube/client";

const SLEEP_ACTION_MINOR = 30;

export interface VersionQuestion {
  readonly client: KubeClient;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** The command that runs this program's own `sleep`, where the API server does not know the sleep action; else undefined. */
export async function sleepCommandFor(question: VersionQuestion): Promise<readonly string[] | undefined> {
  const { client, logger, signal } = question;
  const minor = minorOf(await client.request({ method: "GET", path: "/version", signal }));
  if (minor === undefined) {
    logger.info("the API server does not tell its version: taken for a current one");
    return undefined;
  }
  if (minor >= SLEEP_ACTION_MINOR) return undefined;
  logger.info("the API server has no sleep action: wake agents run the program's own", { minor });
  // The agent's image is the operator's, so that what runs here is there too.
  return ownCommand(process.execPath, process.argv[1]);
}

/** `{"major":"1","minor":"29+"}`: vendors put signs behind the number. Another major version is newer than every 1.x. */
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
