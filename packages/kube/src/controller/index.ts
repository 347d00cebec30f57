// Controllers, the work queue and the workers that run them, and the manager that starts and stops everything in order.
export {
  type Controller,
  type NextCheck,
  type Pass,
  type Reconcile,
  RetryAfterError,
  TerminalError,
  type WatchSource,
  watch,
} from "./controller.ts";
export { createManager, ForcedStopError, type Manager, type ManagerOptions, ShutdownTimeoutError } from "./manager.ts";
export { owns } from "./owns.ts";
export { type ControllerDeps, controllerRunnable } from "./run-controller.ts";
export { cacheRunnable, type Group, type Runnable } from "./runnable.ts";
export { type WorkerOptions, work } from "./worker.ts";
export { WorkQueue, type WorkQueueOptions } from "./workqueue.ts";
