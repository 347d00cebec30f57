// Runs in every worker, before the tests of each file. A worker exits when its Vitest process has exited, and its child processes exit with it: an
// interrupted run does not disturb the next one.
const ONCE = Symbol.for("firebolt-operator/exit-with-vitest");

/** A worker may run many files. */
if (!Reflect.has(process, ONCE)) {
  Reflect.set(process, ONCE, true);
  process.once("disconnect", () => process.exit(1));
}
