// The wake agent as a process of its own, from the sources: what `firebolt-operator wake-agent` runs.
import { runWakeAgent } from "../../../src/cli/commands/wake-agent.ts";

process.exitCode = await runWakeAgent(process.argv.slice(2));
