// A fault: how it is caused, the signs that point to its cause, how it is repaired, and when it has recovered. Every
// fault has an entry in docs/troubleshooting.md under the same name (test/docs/faults.test.ts).
import type { Api } from "@firebolt-operator/kube/testing";
import type { Connection } from "../../../dev/deploy/connection.ts";
import type { E2eContext } from "../support/platform.ts";

/** Where a fault is made: a namespace with an instance in it. */
export interface FaultTarget {
  readonly namespace: string;
  readonly instance: string;
  /** Fields of the instance's spec. */
  readonly spec?: object;
  /** What must be there before the instance is created. */
  readonly prepare?: (where: { readonly cluster: Connection; readonly context: E2eContext }) => Promise<unknown>;
  /** Faults of a target wait for one another, unless each has an engine of its own and touches nothing else. */
  readonly together?: true;
}

/** What a fault has in its hands while it is made and mended. */
export interface Scene {
  readonly context: E2eContext;
  readonly cluster: Connection;
  /** Plain requests with the administrator's certificate. */
  readonly api: Api;
  readonly namespace: string;
  readonly instance: string;
  /** Of the fault; it exists if the fault has an `engine`. */
  readonly engine: string;
}

/** Each is looked for in what it names. Absent: the fault does not show there. */
export interface Signs {
  /** One line per condition of the subject: `Ready=False Rolling: …`. */
  readonly condition?: RegExp;
  /** One line per event of the subject: `Warning PodFailing: …`. */
  readonly event?: RegExp;
  /** One line per event of pods and other objects of Kubernetes since the fault was made: `Normal Killing Pod lakeside-metadata-pg-0: …`. */
  readonly kubernetes?: RegExp;
  /** What `kubectl firebolt status` prints for the namespace. */
  readonly status?: RegExp;
  /** What the API server, or a gateway, responded to the user. */
  readonly refusal?: RegExp;
}

export interface Made {
  /** The response to a request that was rejected. */
  readonly refusal?: string;
  /** Waits until the fault has lasted long enough for signs that come and go to have gone. */
  readonly outlast?: () => Promise<unknown>;
  /** Absent: it recovers automatically. */
  readonly mend?: () => Promise<unknown>;
  /** Throws until everything is as it should be. */
  readonly healed: () => Promise<unknown>;
}

export interface Fault {
  readonly name: string;
  readonly target: FaultTarget;
  /** Spec of an engine that serves before the fault is made. */
  readonly engine?: object;
  /** The object whose conditions and events are checked. Default: the engine. */
  readonly subject?: "engine" | "instance";
  readonly signs: Signs;
  /** Queries run from before the fault until it has recovered, and all of them succeed. */
  readonly load?: boolean;
  /** The fault removes what serves: a query in flight may get a response to retry. */
  readonly mayRetry?: true;
  make(scene: Scene): Promise<Made>;
}
