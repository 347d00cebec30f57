// From the text of one AdmissionReview to the text of its answer. Whatever happens in between, the answer is a refusal unless a
// judge has said yes: a defect, a missing look-up and a passed deadline all refuse, and say so.

import { groupResourceOf, type Logger, untilAborted } from "@firebolt-operator/kube";
import { UndecodableError } from "./decode.ts";
import type { Hook } from "./hooks.ts";
import { JsonTextError, parseJson } from "./json-text.ts";
import type { Judge } from "./judge.ts";
import { type AdmissionRequest, parseReview, renderReview, type Verdict } from "./review.ts";

export interface ReviewAnswer {
  readonly status: number;
  readonly body: string;
  readonly type: "review" | "problem";
}

/** The time for the whole answer is over. */
export class DeadlineError extends Error {
  override readonly name = "DeadlineError";
}

export interface ReviewContext {
  readonly hook: Hook;
  readonly judge: Judge;
  readonly logger: Logger;
  /** Fires with a {@link DeadlineError}, or because nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export async function answerReview(text: string, context: ReviewContext): Promise<ReviewAnswer> {
  const parsed = parseText(text, context.hook);
  switch (parsed.type) {
    case "malformed":
      return { status: 400, body: `${parsed.why}\n`, type: "problem" };
    case "misdirected":
      return review(parsed.uid, refusal(400, parsed.why));
    case "request": {
      const verdict = await judged(parsed.request, context);
      report(verdict, parsed.request, context);
      return review(parsed.request.uid, verdict);
    }
    default:
      return parsed satisfies never;
  }
}

function parseText(text: string, hook: Hook): ReturnType<typeof parseReview> {
  try {
    return parseReview(parseJson(text), hook);
  } catch (error) {
    if (error instanceof JsonTextError) return { type: "malformed", why: error.message };
    throw error;
  }
}

async function judged(request: AdmissionRequest, { hook, judge, logger, signal }: ReviewContext): Promise<Verdict> {
  try {
    return await untilAborted(judge(request, signal), signal);
  } catch (error) {
    if (error instanceof UndecodableError) return refusal(400, error.message);
    if (signal.aborted && error === signal.reason && !(error instanceof DeadlineError)) throw error;
    const { namespace, name, operation } = request;
    logger.error("admission failed", error, { webhook: hook.name, namespace, name, operation });
    if (error instanceof DeadlineError) return refusal(504, `${error.message}; try again`);
    return refusal(500, "the webhook failed to judge the object; the operator's log says why");
  }
}

function report(verdict: Verdict, request: AdmissionRequest, { hook, logger }: ReviewContext): void {
  const { namespace, name, operation } = request;
  const fields = { webhook: hook.name, resource: groupResourceOf(hook.kind), namespace, name, operation };
  if (verdict.type === "allow") logger.debug("admitted", fields);
  else logger.info("refused", { ...fields, paths: verdict.violations.map(({ path }) => path), cause: verdict.message });
}

const refusal = (code: number, message: string): Verdict => ({ type: "deny", code, message, violations: [] });
const review = (uid: string, verdict: Verdict): ReviewAnswer => ({
  status: 200,
  body: renderReview(uid, verdict),
  type: "review",
});
