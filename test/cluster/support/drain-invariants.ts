// That nothing is deleted before it is drained, as an observer sees it who trusts neither the operator's status nor its words: from
// the stored versions of Services, StatefulSets and pods, and from what the engines themselves report. Pure.
import type { V1Pod, V1Service } from "../../../src/api/generated/kubernetes.ts";
import { LABEL } from "../../../src/api/labels.ts";
import type { EngineHistory, SeenOf } from "../../engine/support/history.ts";
import type { EngineReport } from "./engine-reports.ts";

export interface DrainRules {
  /** How long after the switch a probe must have been made to count. */
  readonly settleMs: number;
  /** Converts the history's times into milliseconds since the epoch. Default: of this process. */
  readonly epochMs?: (atMs: number) => number;
}

export interface DrainVerdict {
  /** Generations that served once and were deleted: those that were checked. */
  readonly checked: readonly string[];
  readonly broken: readonly string[];
}

const ofThisProcess = (atMs: number): number => performance.timeOrigin + atMs;

/** For engines that drain: not for `rollout: recreate`, and not for engines that are deleted. */
export function judgeDrains(
  history: EngineHistory,
  reports: readonly EngineReport[],
  { settleMs, epochMs = ofThisProcess }: DrainRules,
): DrainVerdict {
  const checked: string[] = [];
  const broken: string[] = [];
  for (const deletion of deletionsOf(history)) {
    const { engine, generation, name, version } = deletion;
    const switchedMs = switchOf(history, deletion);
    if (switchedMs === undefined) continue;
    checked.push(name);
    // Stored between the whole second in its timestamp and the moment its event arrived.
    const arrivedMs = epochMs(deletion.atMs);
    const pods = runningPods(history, { engine, generation, version });
    if (pods.length === 0) broken.push(`${name} served, and no pod of it was ever seen`);
    for (const { metadata } of pods) {
      const own = reports.filter(({ uid, atMs }) => uid === metadata?.uid && atMs <= arrivedMs);
      const who = `${name} was deleted although ${metadata?.name}`;
      const last = own.findLast((report) => report.type === "scraped");
      if (last === undefined || last.atMs < switchedMs + settleMs)
        broken.push(`drained-before-deleted: ${who} was not probed ${settleMs} ms after the switch or later`);
      else if (!last.queries.every(([, count]) => count === 0))
        broken.push(
          `drained-before-deleted: ${who} reported ${last.queries.map(([kind, count]) => `${count} ${kind}`).join(" and ")} queries`,
        );
      for (const label of runningQueries(own, deletion.stampedMs))
        broken.push(`drained-before-deleted: ${who} ran the query ${label}`);
    }
  }
  return { checked, broken };
}

interface Deletion {
  readonly engine: string;
  readonly generation: string;
  readonly name: string;
  readonly version: bigint;
  readonly stampedMs: number;
  readonly atMs: number;
}

/** The first version of each StatefulSet that is on its way out. One without replicas never ran a query. */
function deletionsOf(history: EngineHistory): readonly Deletion[] {
  const seen = new Set<string>();
  return history.of("StatefulSet").flatMap(({ name, object: { metadata, spec }, change, version, atMs }) => {
    const stamp = metadata?.deletionTimestamp;
    const key = metadata?.uid ?? name;
    if ((stamp === undefined && change === "stored") || seen.has(key) || spec?.replicas === 0) return [];
    seen.add(key);
    const engine = metadata?.labels?.[LABEL.engine] ?? "";
    const generation = metadata?.labels?.[LABEL.generation] ?? "";
    const stampedMs = stamp === undefined ? Number.POSITIVE_INFINITY : Date.parse(String(stamp));
    return [{ engine, generation, name, version, stampedMs, atMs }];
  });
}

/** When the routing Service last stopped selecting the generation, by the API server's clock in whole seconds. */
function switchOf(history: EngineHistory, { engine, generation, version }: Deletion): number | undefined {
  const versions = history.of("Service", `${engine}-service`).filter((one) => one.version < version);
  const target = ({ object }: SeenOf<"Service">): unknown => object.spec?.selector?.[LABEL.generation];
  const away = versions.findLast((one, index) => {
    const before = versions[index - 1];
    return before !== undefined && target(before) === generation && target(one) !== generation;
  });
  return away === undefined ? undefined : lastWriteMs(away.object);
}

function lastWriteMs({ metadata }: V1Service): number {
  const times = (metadata?.managedFields ?? []).map(({ time }) => Date.parse(String(time)));
  return Math.max(...times);
}

function runningPods(
  history: EngineHistory,
  { engine, generation, version }: Pick<Deletion, "engine" | "generation" | "version">,
): readonly V1Pod[] {
  const newest = new Map<string, SeenOf<"Pod">>();
  for (const entry of history.of("Pod")) {
    const { labels } = entry.object.metadata ?? {};
    const isOwn = labels?.[LABEL.engine] === engine && labels[LABEL.generation] === generation;
    if (isOwn && entry.version < version) newest.set(entry.name, entry);
  }
  return [...newest.values()]
    .filter(({ change, object }) => change === "stored" && object.status?.phase === "Running")
    .map(({ object }) => object);
}

/** Those that began before the deletion can have been stored and had not ended when it was seen. */
function runningQueries(reports: readonly EngineReport[], stampedMs: number): readonly string[] {
  const running = new Map<string, number>();
  for (const report of reports) {
    if (report.type === "scraped" || (report.type === "began" && report.atMs >= stampedMs)) continue;
    const change = report.type === "began" ? 1 : -1;
    running.set(report.label, (running.get(report.label) ?? 0) + change);
  }
  return [...running].flatMap(([label, count]) => (count > 0 ? [label] : []));
}
