// Breadth-first over all states that a number of disturbances can lead to. States are distinguished by their key and
// visited with the fewest disturbances and steps that reach them, so the first violation found has the shortest story.
import type { EngineStep } from "../../design/step-names.ts";
import { canonicalKey } from "./canonical.ts";
import { checkState, withPrologue } from "./checks.ts";
import { FairRuns } from "./fair-run.ts";
import { stepOf } from "./steps.ts";
import { type Menu, NO_DISTURBANCE, type Successor, visitSuccessors } from "./successors.ts";
import type { System } from "./system.ts";

export interface Exploration {
  readonly menu: Menu;
  readonly starts: readonly System[];
  /** Most disturbances in one story. */
  readonly disturbances: number;
  readonly maxStates: number;
}

export interface Figures {
  readonly states: number;
  readonly transitions: number;
  /** Rows of the transition table that were taken. */
  readonly steps: ReadonlySet<EngineStep>;
  /** Longest fair run to rest, in passes. */
  readonly longestFairRun: number;
  /** Whether everything within the bound has been seen. */
  readonly complete: boolean;
  readonly seconds: number;
}

interface Node {
  readonly parent: number;
  readonly label: string;
  readonly cost: number;
}

interface Waiting {
  readonly id: number;
  readonly system: System;
}

export async function explore(exploration: Exploration): Promise<Figures> {
  return new Explorer(exploration).run();
}

class Explorer {
  readonly #exploration: Exploration;
  readonly #fairRuns = new FairRuns();
  readonly #known = new Map<string, number>();
  readonly #nodes: Node[] = [];
  /** States to be expanded, by the number of disturbances that led to them. */
  readonly #queues: (Waiting | undefined)[][] = [];
  readonly #expanded = new Set<number>();
  readonly #steps = new Set<EngineStep>();
  #transitions = 0;

  constructor(exploration: Exploration) {
    this.#exploration = exploration;
  }

  async run(): Promise<Figures> {
    const { starts, disturbances, maxStates } = this.#exploration;
    const startedMs = performance.now();
    this.#queues.push(...Array.from({ length: disturbances + 1 }, () => []));
    for (const system of starts) await this.#arrive(system, { parent: -1, label: "start", cost: 0 });
    let complete = true;
    // Expanding a state may lengthen the queue that is being read.
    for (const [cost, queue] of this.#queues.entries())
      for (let at = 0; at < queue.length; at += 1) {
        if (this.#nodes.length >= maxStates) complete = false;
        const waiting = queue[at];
        if (!complete || waiting === undefined) break;
        // What has been expanded is kept by its key alone.
        queue[at] = undefined;
        await this.#expand(waiting, cost);
      }
    return {
      states: this.#nodes.length,
      transitions: this.#transitions,
      steps: this.#steps,
      longestFairRun: this.#fairRuns.longest,
      complete,
      seconds: (performance.now() - startedMs) / 1000,
    };
  }

  async #expand({ id, system }: Waiting, cost: number): Promise<void> {
    if (this.#expanded.has(id)) return;
    this.#expanded.add(id);
    const { menu, disturbances } = this.#exploration;
    try {
      await visitSuccessors(system, `#${id}`, cost < disturbances ? menu : NO_DISTURBANCE, (next) => {
        this.#transitions += 1;
        const step = next.pass === undefined ? undefined : stepOf(next.pass);
        if (step !== undefined) this.#steps.add(step);
        return this.#follow(id, cost, next);
      });
    } catch (error) {
      throw withPrologue(error, this.#storyOf(id));
    }
  }

  async #follow(parent: number, cost: number, { label, cost: more, system }: Successor): Promise<void> {
    try {
      await this.#arrive(system, { parent, label, cost: cost + more });
    } catch (error) {
      throw withPrologue(error, [label]);
    }
  }

  async #arrive(system: System, node: Node): Promise<void> {
    const key = canonicalKey(system);
    const known = this.#known.get(key);
    if (known === undefined) {
      checkState(system);
      await this.#fairRuns.check(system);
      const id = this.#nodes.length;
      this.#known.set(key, id);
      this.#nodes.push(node);
      this.#queues[node.cost]?.push({ id, system });
    } else if (node.cost < (this.#nodes[known]?.cost ?? 0)) {
      this.#nodes[known] = node;
      this.#queues[node.cost]?.push({ id: known, system });
    }
  }

  /** What led to a state, from the start. */
  #storyOf(id: number): readonly string[] {
    const story: string[] = [];
    for (let node = this.#nodes[id]; node !== undefined; node = this.#nodes[node.parent]) story.push(node.label);
    return story.toReversed();
  }
}
