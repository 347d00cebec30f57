// Steady traffic for tests that change the platform meanwhile: some clients, each sending one marked query after
// another until they are stopped. Every query has to succeed.
import type { GatewayClient } from "./gateway-client.ts";

export interface QueryLoad {
  /** Markers of the queries that have succeeded so far. */
  readonly answered: readonly string[];
  /** Markers of those that are on their way. */
  readonly inFlight: ReadonlySet<string>;
  /** Lets queries on their way finish; fails with the first failure. Answers all markers. */
  stop(): Promise<readonly string[]>;
}

export interface QueryLoadOptions {
  readonly engine: string;
  readonly clients: number;
  /** Where the next query is sent; by default the client's own gateway. */
  readonly port?: () => number;
}

export function startQueryLoad(client: GatewayClient, { engine, clients, port }: QueryLoadOptions): QueryLoad {
  const answered: string[] = [];
  const inFlight = new Set<string>();
  const failures: unknown[] = [];
  let stopping = false;
  let last = 0;
  const run = async (): Promise<void> => {
    while (!stopping) {
      const id = `load-${++last}`;
      inFlight.add(id);
      try {
        const target = port === undefined ? {} : { port: port() };
        await client.query({ engine, sql: `INSERT marker('${id}')`, ...target });
        answered.push(id);
      } catch (error) {
        failures.push(error);
      } finally {
        inFlight.delete(id);
      }
    }
  };
  const running = Promise.all(Array.from({ length: clients }, run));
  return {
    answered,
    inFlight,
    async stop() {
      stopping = true;
      await running;
      if (failures.length > 0) throw new Error(`${failures.length} queries failed`, { cause: failures[0] });
      return answered;
    },
  };
}
