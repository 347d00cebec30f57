// A clock for the queues of controllers: how long they mean to wait, whatever the machine makes of it.
import { type Clock, systemClock } from "@firebolt-operator/kube";

/** The system's clock, and every requested delay. */
export function recordingClock(): { readonly clock: Clock; readonly delaysMs: readonly number[] } {
  const delaysMs: number[] = [];
  const after: Clock["after"] = (delayMs, callback) => {
    delaysMs.push(Math.round(delayMs));
    return systemClock.after(delayMs, callback);
  };
  return { clock: { ...systemClock, after }, delaysMs };
}
