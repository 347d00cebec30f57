// `npm run stop`: stops the playground of this clone from another terminal and waits until it has cleaned up. Playgrounds of other clones are
// named and not touched.
import { setTimeout as sleep } from "node:timers/promises";
import { CLONE, isRunning, othersRunning, readState, removeOrphan, stateFile } from "./state-file.ts";

const DEADLINE_MS = 120_000;
const POLL_MS = 100;
const REPORT_EVERY_MS = 5_000;

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

async function main(): Promise<number> {
  const file = stateFile(process.env);
  const state = await readState(file);
  if (state === undefined) {
    say(`no playground is running from ${CLONE}`);
    for (const { pid, clone } of await othersRunning(process.env))
      say(`a playground is running from ${clone} (process ${pid}): to stop it, run \`npm run stop\` there`);
    return 0;
  }
  if (!isRunning(state)) {
    await removeOrphan(file, state, say);
    say("the playground of this clone was already stopped");
    return 0;
  }
  say(`stopping the playground (process ${state.pid}) …`);
  process.kill(state.pid, "SIGTERM");
  const startedMs = performance.now();
  for (let reportedMs = startedMs; isRunning(state); await sleep(POLL_MS)) {
    const nowMs = performance.now();
    if (nowMs - startedMs > DEADLINE_MS) {
      say(
        `process ${state.pid} is still running after ${DEADLINE_MS / 1000} s: check its terminal, or kill -9 ${state.pid} and run this again`,
      );
      return 1;
    }
    if (nowMs - reportedMs > REPORT_EVERY_MS) {
      reportedMs = nowMs;
      say(`waiting for process ${state.pid} to exit: ${Math.round((nowMs - startedMs) / 1000)} s`);
    }
  }
  say(`stopped after ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  return 0;
}

process.exitCode = await main();
