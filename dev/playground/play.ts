// One run of the playground from the first step to the last: opens a target, installs the operator, brings the sample platform up, shows it
// and waits for Ctrl-C, or checks it. Everything it has started is stopped when it returns, also when it fails.
import { connect } from "../deploy/connection.ts";
import { query } from "../deploy/query.ts";
import { applySample, SAMPLE } from "../deploy/sample.ts";
import type { CheckFacts, CheckTimes, SentQuery } from "./check-report.ts";
import { explainText, simulatedText } from "./explain.ts";
import { type Interrupt, untilAborted } from "./interrupt.ts";
import { type Decision, type OpenedTarget, type OpenTargetOptions, openTarget } from "./open-target.ts";
import type { ProgressOutput } from "./progress-output.ts";
import { CHECK_QUERIES, FIRST_QUERY, sendQueries, wrongAnswer } from "./queries.ts";
import { showUntilReady } from "./status-view.ts";
import type { Target } from "./target.ts";
import { provideTools } from "./tools.ts";

export interface PlayOptions {
  readonly decision: Decision;
  readonly opening: OpenTargetOptions;
  readonly check: boolean;
  readonly output: ProgressOutput;
  readonly interrupt: Interrupt;
}

export interface Played extends Pick<CheckFacts, "times" | "queries" | "failures" | "teardownSeconds"> {
  /** Failures of the shutdown itself, which count even after Ctrl-C. */
  readonly shutdownFailures: readonly string[];
}

/** Never throws: failures are part of the result. */
export async function play(options: PlayOptions): Promise<Played> {
  const { output, opening, interrupt } = options;
  const times: { -readonly [K in keyof CheckTimes]?: CheckTimes[K] } = {};
  const [failures, shutdownFailures]: [string[], string[]] = [[], []];
  let queries: readonly SentQuery[] = [];
  const stack = new AsyncDisposableStack();
  try {
    const opened = await openTarget(options.decision, opening);
    const { target } = opened;
    stack.use(target);
    interrupt.onInsist(() => target.kill());
    times.controlPlaneSeconds = output.seconds();
    await Promise.race([target.installOperator(), failWhenLost(target)]);
    times.operatorSeconds = output.seconds();
    output.progress("the operator is ready");
    const gateway = await Promise.race([bringUp(target, options), failWhenLost(target)]);
    times.readySeconds = output.seconds();
    if (options.check) {
      output.progress(`sending ${CHECK_QUERIES} queries through ${gateway}`);
      queries = await sendQueries(CHECK_QUERIES, { gateway, engines: SAMPLE.engines, signal: interrupt.signal });
    } else await letUse({ ...options, opened, gateway, readySeconds: times.readySeconds });
  } catch (error) {
    failures.push(messageOf(error));
  }
  const stoppingSeconds = output.seconds();
  output.progress(interrupt.signal.aborted ? "stopping …" : "shutting everything down …");
  try {
    await stack.disposeAsync();
  } catch (error) {
    shutdownFailures.push(`while shutting down: ${messageOf(error)}`);
  }
  return { times, queries, failures, shutdownFailures, teardownSeconds: output.seconds() - stoppingSeconds };
}

/** Applies the sample and waits for it; returns the gateway's URL on this host. */
async function bringUp(target: Target, { output, interrupt, check }: PlayOptions): Promise<string> {
  using cluster = await connect({ ...target.address, namespace: target.namespace, signal: interrupt.signal });
  output.progress(
    `applying the sample: instance ${SAMPLE.instance}, class ${SAMPLE.engineClass}, engines ${SAMPLE.engines.join(", ")}`,
  );
  await applySample(cluster, target.namespace);
  const tree = await showUntilReady(cluster, output);
  // A terminal shows it already, and a check keeps standard output for its report.
  if (!output.terminal.interactive && !check) output.terminal.out(tree);
  output.progress("instance and engines are ready");
  const gateway = await target.openGateway(SAMPLE.instance);
  output.progress(`the gateway is at ${gateway}`);
  return gateway;
}

interface Use extends PlayOptions {
  readonly opened: OpenedTarget;
  readonly gateway: string;
  readonly readySeconds: number;
}

async function letUse(use: Use): Promise<void> {
  const { opened, gateway, output, interrupt, opening } = use;
  const { target } = opened;
  const { sql, answer } = FIRST_QUERY;
  const { status, body } = await query({ gateway, engine: SAMPLE.engines[0], sql, signal: interrupt.signal });
  const wrong = status === 200 ? wrongAnswer(body, answer) : `status ${status}: ${body.trim()}`;
  if (wrong !== undefined) throw new Error(`the first query, ${sql}, failed: ${wrong}`);
  output.terminal.out(
    explainText({
      mode: target.mode,
      style: output.terminal.style,
      readySeconds: use.readySeconds,
      gateway,
      namespace: target.namespace,
      kubeconfig: target.address.kubeconfig,
      context: target.address.context,
      tools: await provideTools(opening.folder, output.progress),
      sql,
      result: body,
      nextImage: await opened.nextImage,
    }),
  );
  if (target.mode === "simulated") output.warn(simulatedText(use.decision.fallback));
  await Promise.race([untilAborted(interrupt.signal), failWhenLost(target)]);
}

async function failWhenLost({ lost }: Target): Promise<never> {
  throw new Error(await lost);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
