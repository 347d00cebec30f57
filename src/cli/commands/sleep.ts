// `sleep <seconds>`: a preStop hook for images that have no shell (Kubernetes before 1.30 has no sleep action).
import { sleep, systemClock } from "@firebolt-operator/kube";
import { UsageError } from "../flags/flag-table.ts";
import { print } from "./print.ts";

export const SLEEP_USAGE = "usage: firebolt-operator sleep SECONDS";

export async function runSleep(args: readonly string[]): Promise<number> {
  const [text = "", ...rest] = args;
  if (text === "--help" || text === "-help") return print(SLEEP_USAGE);
  if (rest.length > 0 || !/^\d+(\.\d+)?$/.test(text)) {
    throw new UsageError(
      `sleep takes one argument, a number of seconds: sleep 5 (got ${JSON.stringify(args.join(" "))})`,
    );
  }
  await sleep(systemClock, Number(text) * 1000);
  return 0;
}
