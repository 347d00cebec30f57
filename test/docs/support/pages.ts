// Which pages the repository has, and whose commands are run by which test. Data and a file listing; checks nothing.
import { globSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../../..");

/** Pages whose commands test/docs/pages.cluster.test.ts runs, in this order, on one cluster. */
export const RUN_PAGES = [
  "examples/README.md",
  "docs/install.md",
  "docs/quickstart.md",
  "docs/concepts.md",
  "docs/rollouts.md",
  "docs/gateway.md",
  "docs/auto-stop-and-wake.md",
  "docs/monitoring.md",
  "docs/security.md",
  "docs/troubleshooting.md",
  "docs/adopt/air-gapped.md",
  "docs/adopt/openshift.md",
  "docs/adopt/tenancy.md",
  "docs/operations/metadata-outage.md",
  "docs/operations/node-drains.md",
  "docs/operations/backup-and-restore.md",
  "docs/operations/leaving.md",
  "docs/upgrade.md",
] as const;

/** Its captures are run, and compared in their own way, by test/plugin/manual.integration.test.ts. */
export const PLUGIN_PAGE = "docs/plugin.md";

/** Every page that people read, by its path from the root. */
export function allPages(): readonly string[] {
  const patterns = [
    "*.md",
    "docs/**/*.md",
    "dev/*.md",
    "examples/*.md",
    "bench/*.md",
    "charts/*/README.md",
    "src/**/*.md",
    "packages/*/*.md",
    "packages/*/docs/*.md",
  ];
  return globSync(patterns, { cwd: ROOT }).sort();
}
