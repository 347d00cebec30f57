// The measurements of the wake benchmark on a real node, inside the sandbox. Prints one line of JSON.
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { percentiles } from "../fleet/percentiles.ts";
import { NAMESPACE, openNodePlatform } from "../node/node-platform.ts";
import { openObserver } from "../node/observe.ts";
import { MOMENTS, meanParts, podStartOf, totalOf, type Way } from "../node/parts.ts";
import { type Measuring, measureCreation, measureRoll, measureWake, removeEngine } from "../node/scenarios.ts";
import { renderStackedBars } from "../node/stacked-bars.ts";

const { values } = parseArgs({
  options: {
    wakes: { type: "string", default: "50" },
    creations: { type: "string", default: "50" },
    rolls: { type: "string", default: "50" },
    /** Draws the mean parts into this file. */
    svg: { type: "string" },
  },
});
const progress = (line: string): void => void process.stderr.write(`${line}\n`);
const seconds = (ms: number): number => Number((ms / 1_000).toFixed(3));

interface Measured {
  readonly wake: readonly Way[];
  readonly creation: readonly Way[];
  readonly roll: readonly Way[];
}

/** One engine after the other: nothing else happens on the node. The first of each kind is not counted. */
async function measureAll(measuring: Measuring): Promise<Measured> {
  const wake: Way[] = [];
  const creation: Way[] = [];
  const roll: Way[] = [];
  const wanted = { wakes: Number(values.wakes), creations: Number(values.creations), rolls: Number(values.rolls) };
  const rounds = Math.max(...Object.values(wanted));
  for (let round = 0; round <= rounds; round++) {
    const [woken, created] = [`woken-${round}`, `created-${round}`];
    const count = (list: Way[], way: Way, what: string): void => {
      if (round > 0) list.push(way);
      progress(
        `${round}/${rounds} ${what}: ${seconds(totalOf(way))} s, of which its pod ${seconds(podStartOf(way))} s`,
      );
    };
    if (round <= Math.max(wanted.wakes, wanted.rolls)) {
      count(wake, await measureWake(measuring, woken), "wake");
      if (round <= wanted.rolls) count(roll, await measureRoll(measuring, woken), "roll");
      await removeEngine(measuring, woken);
    }
    if (round <= wanted.creations) {
      count(creation, await measureCreation(measuring, created), "create");
      await removeEngine(measuring, created);
    }
  }
  return { wake, creation, roll };
}

function summary(ways: readonly Way[]) {
  const total = percentiles(ways.map(totalOf));
  const podStart = percentiles(ways.map(podStartOf));
  return {
    count: ways.length,
    totalSeconds: inSeconds(total),
    podStartSeconds: inSeconds(podStart),
    /** How much longer users wait than the pod itself takes to start. */
    p50PerPodStart: Number((total.p50 / podStart.p50).toFixed(2)),
    meanParts: Object.fromEntries(meanParts(ways).map(({ moment, ms }) => [MOMENTS[moment], seconds(ms)])),
  };
}

const inSeconds = ({ min, p50, p99, max }: ReturnType<typeof percentiles>) => ({
  min: seconds(min),
  p50: seconds(p50),
  p99: seconds(p99),
  max: seconds(max),
});

const NAMES = { wake: "wake by a query", creation: "create → Ready", roll: "roll → stable" } as const;

await using platform = await openNodePlatform(progress);
await using observer = await openObserver(platform.cluster.client, platform.api, NAMESPACE);
const measured = await measureAll({ platform, observer });
const kinds = (Object.keys(NAMES) as (keyof Measured)[]).filter((kind) => measured[kind].length > 0);
const result = Object.fromEntries(kinds.map((kind) => [kind, summary(measured[kind])]));
for (const kind of kinds) {
  const {
    count,
    totalSeconds: total,
    podStartSeconds: pod,
    p50PerPodStart,
    meanParts: parts,
  } = summary(measured[kind]);
  progress(
    `\n${NAMES[kind]}, ${count} times: p50 ${total.p50} s, p99 ${total.p99} s; its pod alone: p50 ${pod.p50} s (× ${p50PerPodStart})`,
  );
  for (const [name, mean] of Object.entries(parts)) progress(`  ${name.padEnd(40)} ${mean.toFixed(3)} s`);
}
if (values.svg !== undefined) {
  const bars = kinds.map((kind) => ({ name: NAMES[kind], parts: meanParts(measured[kind]) }));
  writeFileSync(values.svg, renderStackedBars("Where the time goes on a real node: the mean of every part", bars));
}
process.stdout.write(`${JSON.stringify(result)}\n`);
