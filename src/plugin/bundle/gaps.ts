// What a support bundle lacks, why, and which right would have allowed it. Half a bundle is better than none: a read that fails is
// noted here and the collection goes on.
import { groupResourceOf, isForbidden, isNotFound, KubeApiError, type ResourceType } from "@firebolt-operator/kube";
import { describeError } from "../describe-error.ts";
import type { Scrubber } from "./scrub.ts";

export interface Gap {
  /** A kind, or a file of the archive. */
  readonly what: string;
  readonly why: string;
  /** The right that was missing, where one was. */
  readonly needs?: string | undefined;
  /** Whether there is something that somebody else could have read. */
  readonly isLoss: boolean;
}

export interface Wanted {
  readonly what: string;
  /** What a Role has to allow: `list pods in namespace analytics`. */
  readonly right: string;
}

/** The right to list a kind, as text. `namespace` undefined: all namespaces. */
export function listRight(type: ResourceType, namespace: string | undefined): string {
  const where = !type.namespaced ? "" : namespace === undefined ? " in all namespaces" : ` in namespace ${namespace}`;
  return `list ${groupResourceOf(type)}${where}`;
}

/** What the API server said is scrubbed by itself: text before it could hide where a secret begins. */
export function gapText({ what, why, needs }: Gap, scrubber: Scrubber): string {
  return `${what}: ${scrubber.text(why)}${needs === undefined ? "" : `; this needs the right to ${needs}`}`;
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

  /** Whether the archive has less than there is. */
  get isIncomplete(): boolean {
    return this.#found.some(({ isLoss }) => isLoss);
  }

  /** What the read returns, or `without` after having noted why it failed. Ctrl+C ends it all the same. */
  async attempt<T>(wanted: Wanted, read: () => Promise<T>, without: T): Promise<T> {
    try {
      return await read();
    } catch (error) {
      if (this.#signal.aborted) throw error;
      this.note(wanted, error);
      return without;
    }
  }

  note({ what, right }: Wanted, error: unknown): void {
    const why = describeError(error);
    if (this.#found.some((gap) => gap.what === what && gap.why === why)) return;
    this.#found.push({ what, why, needs: isForbidden(error) ? right : undefined, isLoss: !isNothingThere(error) });
  }
}

/** A container that has not started, or whose former run is gone, has no log: nobody could read it. */
function isNothingThere(error: unknown): boolean {
  return isNotFound(error) || (error instanceof KubeApiError && error.status === 400);
}
