// `npm run stop`: ends the playground of this clone from another terminal and waits until nothing is left of it. Playgrounds of other clones
// are named and left alone.
import { setTimeout as sleep } from "node:timers/promises";
import { CLONE, isRunning, othersRunning, readState, removeLeftovers, stateFile } from "./state-file.ts";

const DEADLINE_MS = 120_000;
const POLL_MS = 100;
const TELL_EVERY_MS = 5_000;

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

async function main(): Promise<number> {
  const file = stateFile(process.env);
  const state = await readState(file);
  if (state === undefined) {
    say(`no playground is running that was started from ${CLONE}`);
    for (const { pid, clone } of await othersRunning(process.env))
      say(`one of another clone is (process ${pid}): to end it, run this in ${clone}`);
    return 0;
  }
  if (!isRunning(state)) {
    await removeLeftovers(file, state, say);
    say("no playground of this clone is running any more");
    return 0;
  }
  say(`stopping the playground (process ${state.pid}) …`);
  process.kill(state.pid, "SIGTERM");
  const startedMs = performance.now();
  for (let toldMs = startedMs; isRunning(state); await sleep(POLL_MS)) {
    const nowMs = performance.now();
    if (nowMs - startedMs > DEADLINE_MS) {
      say(
        `it still runs after ${DEADLINE_MS / 1000} s: look at its terminal, or kill -9 ${state.pid} and run this again`,
      );
      return 1;
    }
    if (nowMs - toldMs > TELL_EVERY_MS) {
      toldMs = nowMs;
      say(`waiting for process ${state.pid} to end: ${Math.round((nowMs - startedMs) / 1000)} s`);
    }
  }
  say(`stopped after ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  return 0;
}

process.exitCode = await main();
