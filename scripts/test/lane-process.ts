// A lane as the suite sees it: a process that is given one task after the other. Every line that it prints is passed on with the lane's name in
// front, and kept until its task has ended.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { FromLane, Task, TaskResult, TestFile, ToLane } from "./messages.ts";

const ROOT = join(import.meta.dirname, "../..");
const LANE = join(import.meta.dirname, "lane.ts");

export interface LaneOptions {
  readonly name: string;
  /** The script below which the lane runs: a network or a sandbox of its own. */
  readonly within: string;
  readonly projects: readonly string[];
  /** As nice(1) has it: more yields to others. */
  readonly niceness: number;
}

/** A task, how it ended, and what the lane printed meanwhile. */
export interface Ran {
  readonly task: Task;
  readonly result: TaskResult;
  readonly output: readonly string[];
}

export class Lane {
  readonly name: string;
  /** The test files of its projects. */
  readonly files: Promise<readonly TestFile[]>;
  readonly #child: ChildProcess;
  readonly #ended: Promise<string>;
  #output: string[] = [];

  constructor({ name, within, projects, niceness }: LaneOptions) {
    this.name = name;
    this.#child = spawn("sh", [within, process.execPath, LANE, ...projects], {
      cwd: ROOT,
      // Sandboxes use descriptor 3 for themselves.
      stdio: ["ignore", "pipe", "pipe", "ignore", "ipc"],
      env: { ...process.env, FIREBOLT_TEST_LANE: name, ...(process.stdout.isTTY ? { FORCE_COLOR: "1" } : {}) },
    });
    const { pid, stdout, stderr } = this.#child;
    if (pid !== undefined) setPriority(pid, niceness);
    const copied = [this.#copy(stdout, process.stdout), this.#copy(stderr, process.stderr)];
    this.#ended = once(this.#child, "exit").then(async ([code, signal]: unknown[]) => {
      await Promise.all(copied);
      return signal === null ? `exited with code ${code}` : `was terminated by ${signal}`;
    });
    this.files = this.#received("ready").then(({ files }) => files);
    // The caller that awaits the files gets the failure; a lane may exit before that.
    this.files.catch(() => undefined);
  }

  /** Runs the task. A lane that exits meanwhile has failed it, and cannot be given another one. */
  async run(task: Task): Promise<Ran> {
    const ran = this.#received("ran");
    this.#output = [];
    this.#send({ type: "run", task });
    const { result } = await ran;
    return { task, result, output: this.#output };
  }

  /** What it printed since its last task began. */
  get output(): readonly string[] {
    return this.#output;
  }

  async end(): Promise<void> {
    if (this.#child.connected) this.#send({ type: "end" });
    await this.#ended;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** The exit code that a shell would report. */
  get exitCode(): number {
    const { exitCode, signalCode } = this.#child;
    return signalCode === null ? (exitCode ?? 0) : 128 + constants.signals[signalCode];
  }

  #send(message: ToLane): void {
    this.#child.send(message);
  }

  async #received<Type extends FromLane["type"]>(type: Type): Promise<Extract<FromLane, { readonly type: Type }>> {
    const { promise, resolve, reject } = Promise.withResolvers<Extract<FromLane, { readonly type: Type }>>();
    const onMessage = (message: FromLane): void => {
      if (isOf(message, type)) resolve(message);
    };
    this.#child.on("message", onMessage);
    void this.#ended.then((how) => reject(new Error(`lane ${this.name} ${how} before it had finished`)));
    try {
      return await promise;
    } finally {
      this.#child.off("message", onMessage);
    }
  }

  async #copy(from: Readable | null, to: Writable): Promise<void> {
    if (from === null) return;
    for await (const line of createInterface({ input: from })) {
      to.write(`${this.name}│ ${line}\n`);
      this.#output.push(line);
    }
  }
}

const isOf = <Type extends FromLane["type"]>(
  message: FromLane,
  type: Type,
): message is Extract<FromLane, { readonly type: Type }> => message.type === type;
