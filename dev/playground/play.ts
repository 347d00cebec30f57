// One run of the playground from the first step to the last: opens a place, installs the operator, brings the sample platform up, shows it
// and lets somebody use it, or checks it. Everything it has started is ended when it returns, also when it fails.
import { connect } from "../platform/connection.ts";
import { query } from "../platform/query.ts";
import { applySample, SAMPLE } from "../platform/sample.ts";
import type { CheckFacts, CheckTimes, SentQuery } from "./check-report.ts";
import { explainText, simulatedText } from "./explain.ts";
import { type Interrupt, untilAborted } from "./interrupt.ts";
import type { Narrator } from "./narrator.ts";
import { type Decision, type OpenedPlace, type OpenPlaceOptions, openPlace } from "./open-place.ts";
import type { Place } from "./place.ts";
import { CHECK_QUERIES, FIRST_QUERY, sendQueries, wrongAnswer } from "./queries.ts";
import { showUntilReady } from "./status-view.ts";
import { provideTools } from "./tools.ts";

export interface PlayOptions {
  readonly decision: Decision;
  readonly opening: OpenPlaceOptions;
  readonly check: boolean;
  readonly narrator: Narrator;
  readonly interrupt: Interrupt;
}

export type Played = Pick<CheckFacts, "times" | "queries" | "failures" | "teardownSeconds">;

/** Never fails: what went wrong is in the answer. */
export async function play(options: PlayOptions): Promise<Played> {
  const { narrator, opening, interrupt } = options;
  const times: { -readonly [K in keyof CheckTimes]?: CheckTimes[K] } = {};
  const failures: string[] = [];
  let queries: readonly SentQuery[] = [];
  const stack = new AsyncDisposableStack();
  try {
    const opened = await openPlace(options.decision, opening);
    const { place } = opened;
    stack.use(place);
    interrupt.onInsist(() => place.kill());
    times.controlPlaneSeconds = narrator.seconds();
    narrator.say("the cluster is up");
    await Promise.race([place.installOperator(), failWhenLost(place)]);
    times.operatorSeconds = narrator.seconds();
    narrator.say("the operator is ready");
    const gateway = await Promise.race([bringUp(place, options), failWhenLost(place)]);
    times.readySeconds = narrator.seconds();
    if (options.check) {
      narrator.say(`sending ${CHECK_QUERIES} queries through ${gateway}`);
      queries = await sendQueries(CHECK_QUERIES, { gateway, engines: SAMPLE.engines, signal: interrupt.signal });
    } else await letUse({ ...options, opened, gateway, readySeconds: times.readySeconds });
  } catch (error) {
    failures.push(messageOf(error));
  }
  const stoppingSeconds = narrator.seconds();
  narrator.say(interrupt.signal.aborted ? "stopping …" : "taking everything down …");
  try {
    await stack.disposeAsync();
  } catch (error) {
    failures.push(`while taking everything down: ${messageOf(error)}`);
  }
  return { times, queries, failures, teardownSeconds: narrator.seconds() - stoppingSeconds };
}

/** The sample platform, whole; answers the gateway's address on this host. */
async function bringUp(place: Place, { narrator, interrupt, check }: PlayOptions): Promise<string> {
  using cluster = await connect({ ...place.address, namespace: place.namespace, signal: interrupt.signal });
  narrator.say(
    `applying the sample: instance ${SAMPLE.instance}, class ${SAMPLE.engineClass}, engines ${SAMPLE.engines.join(", ")}`,
  );
  await applySample(cluster, place.namespace);
  const tree = await showUntilReady(cluster, narrator);
  // On a terminal it is there already; a check keeps standard output for its result.
  if (!narrator.terminal.interactive && !check) narrator.terminal.out(tree);
  narrator.say("instance and engines are ready");
  const gateway = await place.openGateway(SAMPLE.instance);
  narrator.say(`the gateway is at ${gateway}`);
  return gateway;
}

interface Use extends PlayOptions {
  readonly opened: OpenedPlace;
  readonly gateway: string;
  readonly readySeconds: number;
}

async function letUse(use: Use): Promise<void> {
  const { opened, gateway, narrator, interrupt, opening } = use;
  const { place } = opened;
  const { sql, answer } = FIRST_QUERY;
  const { status, body } = await query({ gateway, engine: SAMPLE.engines[0], sql, signal: interrupt.signal });
  const wrong = status === 200 ? wrongAnswer(body, answer) : `status ${status}: ${body.trim()}`;
  if (wrong !== undefined) throw new Error(`the first query, ${sql}, has failed: ${wrong}`);
  narrator.terminal.out(
    explainText({
      mode: place.mode,
      style: narrator.terminal.style,
      readySeconds: use.readySeconds,
      gateway,
      namespace: place.namespace,
      kubeconfig: place.address.kubeconfig,
      context: place.address.context,
      tools: await provideTools(opening.folder, narrator.say),
      sql,
      answer: body,
      nextImage: opened.nextImage,
    }),
  );
  if (place.mode === "simulated") narrator.warn(simulatedText(use.decision.fallback));
  await Promise.race([untilAborted(interrupt.signal), failWhenLost(place)]);
}

async function failWhenLost({ lost }: Place): Promise<never> {
  throw new Error(await lost);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
