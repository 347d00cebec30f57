// Runs in every worker, before its tests. A worker whose Vitest is gone has nobody left to tell: it ends, and what it started ends with
// it, so that a run which was broken off is not in the way of the next one.
process.once("disconnect", () => process.exit(1));
