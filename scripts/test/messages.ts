// What the suite and its lanes tell each other.

/** One test file of one project. */
export interface TestFile {
  readonly project: string;
  /** From the project's root. */
  readonly path: string;
}

/** Files that a lane runs at once: one file, or all unit tests. */
export interface Task {
  readonly project: string;
  readonly paths: readonly string[];
}

export interface FileResult extends TestFile {
  readonly passed: boolean;
  readonly tests: number;
  readonly seconds: number;
}

export interface TaskResult {
  readonly passed: boolean;
  readonly files: readonly FileResult[];
  readonly wallSeconds: number;
  /** Of the lane and of everything that it has started, shared servers included. */
  readonly processorSeconds: number;
}

export type ToLane = { readonly type: "run"; readonly task: Task } | { readonly type: "end" };

export type FromLane =
  | { readonly type: "ready"; readonly files: readonly TestFile[] }
  | { readonly type: "ran"; readonly result: TaskResult };
