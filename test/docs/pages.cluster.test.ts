// Runs the commands of the documentation, page by page and in order, as a reader would: in a shell, with kubectl, helm, the plugin and curl,
// on the whole local cluster. What they print must be what the page shows.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { recordFigures } from "../cluster/support/figures.ts";
import { parseDocPage } from "./support/commands.ts";
import { type DocHarness, openDocHarness } from "./support/doc-harness.ts";
import { ROOT, RUN_PAGES } from "./support/pages.ts";
import { runStep } from "./support/run-step.ts";
import { openDocShell } from "./support/shell.ts";

/** The namespace of the pages. Other tests may have used it: each run begins and ends without it. */
const CLEAN = `
kubectl -n analytics delete fireboltengines --all --timeout=90s &&
kubectl -n analytics delete fireboltinstances --all --timeout=90s &&
kubectl -n analytics delete fireboltengineclasses --all --timeout=90s &&
kubectl -n analytics wait pods --all --for=delete --timeout=120s &&
kubectl delete namespace analytics --ignore-not-found --timeout=120s`;
const OPERATOR = "kubectl -n firebolt-operator";

let harness: DocHarness;
let managers: string;
const figures = { pages: 0, commands: 0, notTested: 0, seconds: 0 };

async function quietly(script: string): Promise<string> {
  await using shell = openDocShell(harness);
  const { printed, code } = await shell.run(script, 300_000);
  if (code !== 0) throw new Error(`ended with ${code}: ${script}\n${printed}`);
  return printed.trim();
}

beforeAll(async () => {
  harness = await openDocHarness(inject("e2e").kubeconfig);
  managers = await quietly(`${OPERATOR} get deployment firebolt-operator -o jsonpath='{.spec.replicas}'`);
  await quietly(CLEAN);
}, 420_000);

/** Pages scale the operator: it is restored for the next page. */
afterAll(async () => {
  recordFigures(inject("e2e").figures, "docs", figures);
  await quietly(CLEAN);
  await quietly(`${OPERATOR} scale deployment/firebolt-operator --replicas=${managers}`);
  await quietly(`${OPERATOR} rollout status deployment/firebolt-operator --timeout=120s`);
  harness[Symbol.dispose]();
}, 420_000);

test.each(RUN_PAGES)(
  "%s",
  async (page) => {
    const { steps, notTested, problems } = parseDocPage(readFileSync(join(ROOT, page), "utf8"));
    expect(problems).toEqual([]);
    const startedMs = performance.now();
    await using shell = openDocShell(harness);
    for (const step of steps) await runStep(step, { shell, folder: harness.folder });
    figures.pages += 1;
    figures.commands += steps.filter(({ type }) => type === "command").length;
    figures.notTested += notTested.length;
    figures.seconds += Math.round((performance.now() - startedMs) / 1000);
  },
  // No bound of the product: it ends what hangs.
  600_000,
);
