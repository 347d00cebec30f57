// Lists all pages, so that neither side holds an unbounded response. An expired continue token restarts the list once:
// mixing pages of two moments would lose objects. Sends nothing itself.
import type { Clock } from "../core/clock.ts";
import { isGone } from "../core/errors.ts";
import type { KubeList } from "../core/object.ts";
import type { ListOptions } from "./client.ts";

const PAGE_SIZE = 500;
/** For all pages together: one page is fast, tens of thousands of objects are not. */
const DEFAULT_TIMEOUT_MS = 120_000;

export async function listAllPages<T>(
  page: (options: ListOptions) => Promise<KubeList<T>>,
  options: ListOptions,
  clock: Clock,
): Promise<KubeList<T>> {
  const expiresMs = clock.monotonicMs() + (options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  const timed = (more: ListOptions): Promise<KubeList<T>> =>
    page({ limit: PAGE_SIZE, ...more, timeoutMs: Math.max(1, expiresMs - clock.monotonicMs()) });
  try {
    return await allPages(timed, options);
  } catch (error) {
    if (!isGone(error)) throw error;
    return allPages(timed, options);
  }
}

async function allPages<T>(
  page: (options: ListOptions) => Promise<KubeList<T>>,
  options: ListOptions,
): Promise<KubeList<T>> {
  // The token identifies the moment of the list; a version beside it is an error.
  const { resourceVersion: _version, resourceVersionMatch: _match, ...rest } = options;
  const items: T[] = [];
  let next = await page(options);
  for (;;) {
    for (const item of next.items) items.push(item);
    const token = next.metadata.continue;
    if (!token) return { metadata: { ...next.metadata }, items };
    next = await page({ ...rest, continue: token });
  }
}
