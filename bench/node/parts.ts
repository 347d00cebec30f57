// The way of an engine from a request to its first byte as a list of moments, and the time between each and the one
// before. Pure.

/** Moments in the order in which they happen, each with the part that ends there. */
export const MOMENTS = {
  requested: "gateway: wake request",
  statefulSet: "operator: new generation",
  pod: "StatefulSet controller: pod",
  scheduled: "scheduler",
  process: "kubelet: volumes, sandbox, container",
  listening: "engine: start of the program",
  started: "kubelet: startup probe",
  ready: "kubelet: readiness probe",
  switched: "operator: switch of the Service",
  endpoint: "EndpointSlice controller",
  answered: "gateway: discovery, release, query",
  settled: "operator: status",
} as const;

export type Moment = keyof typeof MOMENTS;
const ORDER = Object.keys(MOMENTS) as readonly Moment[];

/** When a moment was observed, in milliseconds of one clock. Moments that the way does not pass are absent. */
export type Observed = Readonly<Partial<Record<Moment, number>>>;

export interface Way {
  readonly beganMs: number;
  readonly observed: Observed;
}

export interface Part {
  readonly moment: Moment;
  readonly ms: number;
}

/**
 * The parts add up to the whole. Two watches are not ordered: a moment that is observed before the one in front of it
 * takes no time.
 */
export function partsOf({ beganMs, observed }: Way): readonly Part[] {
  let lastMs = beganMs;
  return ORDER.flatMap((moment) => {
    const atMs = observed[moment];
    if (atMs === undefined) return [];
    const ms = Math.max(0, atMs - lastMs);
    lastMs = Math.max(lastMs, atMs);
    return [{ moment, ms }];
  });
}

export const totalOf = (way: Way): number => partsOf(way).reduce((sum, { ms }) => sum + ms, 0);

/** What the pod itself takes, whoever created it: from its creation until it is ready. */
export function podStartOf({ observed: { pod, ready } }: Way): number {
  if (pod === undefined || ready === undefined) throw new Error("the pod was not observed from creation to readiness");
  return ready - pod;
}

/** The mean of every part: unlike medians, means add up to the mean of the whole. */
export function meanParts(ways: readonly Way[]): readonly Part[] {
  const lists = ways.map(partsOf);
  return ORDER.flatMap((moment) => {
    const values = lists.flatMap((parts) => parts.find((part) => part.moment === moment)?.ms ?? []);
    if (values.length === 0) return [];
    return [{ moment, ms: values.reduce((sum, ms) => sum + ms, 0) / ways.length }];
  });
}
