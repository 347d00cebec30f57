// The live view while the platform comes up: the tree of `kubectl firebolt status`, drawn again in place on a terminal; elsewhere one line
// for every change of what is not ready yet.
import type { PlatformView } from "../../src/plugin/status/platform-view.ts";
import { renderTree } from "../../src/plugin/status/render-tree.ts";
import { createLiveScreen } from "../../src/plugin/terminal/live-screen.ts";
import type { Terminal } from "../../src/plugin/terminal/terminal.ts";
import type { Connection } from "../deploy/connection.ts";
import { waitUntilReady } from "../deploy/ready.ts";
import { SAMPLE } from "../deploy/sample.ts";
import type { ProgressOutput } from "./progress-output.ts";

const WANTED = { instances: [SAMPLE.instance], engines: SAMPLE.engines };

/** Returns when everything of the sample is ready, with the tree as it was then. A terminal shows it already. */
export async function showUntilReady(
  cluster: Connection,
  { terminal, progress, seconds }: ProgressOutput,
): Promise<string> {
  if (!terminal.interactive) return treeText(await waitUntilReady(cluster, { ...WANTED, progress }), terminal);
  using screen = createLiveScreen(terminal);
  const view = await waitUntilReady(cluster, {
    ...WANTED,
    onView: (seen) => screen.show(`${treeText(seen, terminal)}\n${terminal.style.dim(`${seconds().toFixed(0)} s`)}\n`),
  });
  const tree = treeText(view, terminal);
  screen.show(tree);
  return tree;
}

function treeText(view: PlatformView, { style }: Terminal): string {
  return `\n${renderTree(view, { style, nowMs: Date.now(), showNamespace: false, showPods: true })}\n`;
}
