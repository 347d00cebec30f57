// What a support bundle lacks, why, and the permission that was missing. A read that fails is recorded here, and the
// collection continues.
import { groupResourceOf, isForbidden, isNotFound, KubeApiError, type ResourceType } from "@firebolt-operator/kube";
import { describeError } from "../command-line/describe-error.ts";
import type { Scrubber } from "./scrub.ts";

export interface Gap {
  /** A kind, or a file of the archive. */
  readonly what: string;
  readonly why: string;
  /** The missing permission, if any. */
  readonly needs?: string | undefined;
  /** Whether a user with more permissions could read it. */
  readonly isLoss: boolean;
}

export interface Wanted {
  readonly what: string;
  /** What a Role has to allow: `list pods in namespace analytics`. */
  readonly right: string;
}

/** The permission to list a kind, for messages. `namespace` undefined: all namespaces. */
export function listRight(type: ResourceType, namespace: string | undefined): string {
  const where = !type.namespaced ? "" : namespace === undefined ? " in all namespaces" : ` in namespace ${namespace}`;
  return `list ${groupResourceOf(type)}${where}`;
}

/** The API server's message is scrubbed separately: a prefix could hide where a secret begins. */
export function gapText({ what, why, needs }: Gap, scrubber: Scrubber): string {
  return `${what}: ${scrubber.text(why)}${needs === undefined ? "" : `; this needs permission to ${needs}`}`;
}

export class Gaps {
  readonly #signal: AbortSignal;
  readonly #found: Gap[] = [];

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  get found(): readonly Gap[] {
    return this.#found;
  }

  /** Whether the archive is incomplete. */
  get isIncomplete(): boolean {
    return this.#found.some(({ isLoss }) => isLoss);
  }

  /** The result of the read, or `without` after a recorded failure. Ctrl+C still aborts. */
  async attempt<T>(wanted: Wanted, read: () => Promise<T>, without: T): Promise<T> {
    try {
      return await read();
    } catch (error) {
      if (this.#signal.aborted) throw error;
      this.record(wanted, error);
      return without;
    }
  }

  record({ what, right }: Wanted, error: unknown): void {
    const why = describeError(error);
    if (this.#found.some((gap) => gap.what === what && gap.why === why)) return;
    this.#found.push({ what, why, needs: isForbidden(error) ? right : undefined, isLoss: !isNothingThere(error) });
  }
}

/** A container that has not started, or whose previous run was removed, has no log for any user. */
function isNothingThere(error: unknown): boolean {
  return isNotFound(error) || (error instanceof KubeApiError && error.status === 400);
}
