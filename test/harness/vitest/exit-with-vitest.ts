// Runs in every worker, before its tests. A worker exits when its Vitest process has exited, and its child processes exit with it: an
// interrupted run does not disturb the next one.
process.once("disconnect", () => process.exit(1));
