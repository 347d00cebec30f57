// Runs the example controller as a process and checks its behaviour.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import type { KubeClient } from "../../src/client/client.ts";
import { eventResource } from "../../src/events/object.ts";
import { ConfigMap } from "../../src/kinds/index.ts";
import { eventually } from "./cluster.ts";

export interface Copier extends AsyncDisposable {
  /** Stops it; resolves with its exit code and its output. */
  stop(): Promise<{ readonly code: number | null; readonly output: string }>;
}

export function startCopier(program: string, settings: { kubeconfig: string; namespace: string }): Copier {
  const { kubeconfig: KUBECONFIG, namespace: NAMESPACE } = settings;
  const child = spawn(process.execPath, [program], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env["PATH"], KUBECONFIG, NAMESPACE },
  });
  const output = text(child.stdout);
  const ended = once(child, "close");
  return {
    async stop() {
      child.kill("SIGTERM");
      await ended;
      return { code: child.exitCode, output: await output };
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await ended;
    },
  };
}

/**
 * Checks the behaviour of the controller: copies, follows, restores, reports, ignores other objects, and stops cleanly.
 */
export async function expectCopies(copier: Copier, client: KubeClient, namespace: string): Promise<void> {
  const at = (name: string) => ({ namespace, name });
  const labels = { "copier.example.com/copy": "true" };
  const original = await client.create(ConfigMap, { metadata: { ...at("one"), labels }, data: { a: "1" } });
  await client.create(ConfigMap, { metadata: at("other"), data: { a: "1" } });
  const dataOf = async (name: string) => (await client.find(ConfigMap, at(name)))?.data;

  await eventually(async () => expect(await dataOf("one-copy")).toEqual({ a: "1" }), { timeoutMs: 120_000 });
  const copy = await client.get(ConfigMap, at("one-copy"));
  expect(copy.metadata?.ownerReferences).toMatchObject([
    { name: "one", uid: original.metadata?.uid, controller: true },
  ]);

  await client.patch(ConfigMap, at("one"), { type: "merge", body: { data: { b: "2" } } });
  await eventually(async () => expect(await dataOf("one-copy")).toEqual({ a: "1", b: "2" }));

  // The original has not changed: only its child can have enqueued it.
  await client.patch(ConfigMap, at("one-copy"), { type: "merge", body: { data: { a: "changed" } } });
  await eventually(async () => expect(await dataOf("one-copy")).toEqual({ a: "1", b: "2" }));

  await eventually(async () => {
    const { items } = await client.list(eventResource, { namespace });
    expect(items.filter(({ reason, regarding }) => reason === "Copied" && regarding?.name === "one")).toHaveLength(1);
  });
  expect(await dataOf("other-copy")).toBeUndefined();

  const { code, output } = await copier.stop();
  expect(output.split("\n").filter((line) => line.includes('"error"'))).toEqual([]);
  expect(code).toBe(0);
}
