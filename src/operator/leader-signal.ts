// A signal for what works beside the passes of a leader: it is aborted when the manager stops, with the manager's reason.
import type { Manager } from "@firebolt-operator/kube/controller";

export function leaderSignal(manager: Pick<Manager, "add">, name: string): AbortSignal {
  const stopped = new AbortController();
  manager.add({
    name,
    group: "leader-services",
    run: (signal) =>
      new Promise((resolve) => {
        const stop = (): void => {
          stopped.abort(signal.reason);
          resolve();
        };
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop, { once: true });
      }),
  });
  return stopped.signal;
}
