// From the JSON of one AdmissionReview to the JSON of its response. The response denies unless a validator has allowed: a
// defect, a failed look-up and a missed deadline all deny, with the reason in the message.

import { groupResourceOf, type Logger, untilAborted } from "@firebolt-operator/kube";
import type { Hook } from "../registration/hooks.ts";
import type { Validator } from "../validators/validator.ts";
import { UndecodableError } from "./decode.ts";
import { InvalidJsonError, parseJson } from "./parse-json.ts";
import { type AdmissionRequest, parseReview, renderReview, type Verdict } from "./review.ts";

export interface ReviewResponse {
  readonly status: number;
  readonly body: string;
  readonly type: "review" | "problem";
}

/** No verdict within the time for the whole response. */
export class DeadlineError extends Error {
  override readonly name = "DeadlineError";
}

export interface ReviewContext {
  readonly hook: Hook;
  readonly validator: Validator;
  readonly logger: Logger;
  /** Fires with a {@link DeadlineError}, or because the client closed the connection. */
  readonly signal: AbortSignal;
}

export async function respondToReview(text: string, context: ReviewContext): Promise<ReviewResponse> {
  const parsed = parseText(text, context.hook);
  switch (parsed.type) {
    case "malformed":
      return { status: 400, body: `${parsed.why}\n`, type: "problem" };
    case "misdirected":
      return review(parsed.uid, denied(400, parsed.why));
    case "request": {
      const verdict = await validateOrDeny(parsed.request, context);
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
    if (error instanceof InvalidJsonError) return { type: "malformed", why: error.message };
    throw error;
  }
}

async function validateOrDeny(
  request: AdmissionRequest,
  { hook, validator, logger, signal }: ReviewContext,
): Promise<Verdict> {
  try {
    return await untilAborted(validator(request, signal), signal);
  } catch (error) {
    if (error instanceof UndecodableError) return denied(400, error.message);
    if (signal.aborted && error === signal.reason && !(error instanceof DeadlineError)) throw error;
    const { namespace, name, operation } = request;
    logger.error("admission failed", error, { webhook: hook.name, namespace, name, operation });
    if (error instanceof DeadlineError) return denied(504, `${error.message}: retry the request`);
    return denied(500, "the webhook failed while validating the object: see the operator's log, then retry");
  }
}

function report(verdict: Verdict, request: AdmissionRequest, { hook, logger }: ReviewContext): void {
  const { namespace, name, operation } = request;
  const fields = { webhook: hook.name, resource: groupResourceOf(hook.kind), namespace, name, operation };
  if (verdict.type === "allow") logger.debug("admitted", fields);
  else logger.info("denied", { ...fields, paths: verdict.violations.map(({ path }) => path), cause: verdict.message });
}

const denied = (code: number, message: string): Verdict => ({ type: "deny", code, message, violations: [] });
const review = (uid: string, verdict: Verdict): ReviewResponse => ({
  status: 200,
  body: renderReview(uid, verdict),
  type: "review",
});
