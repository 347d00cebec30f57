// Figures and claims that several pages make, against the source: versions, images, how many queries are held, what is
// done with Secrets, and links to the project itself. Each of them once differed between two pages.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { PINS } from "../../dev/assets/pins.ts";
import { OPERATOR_DEFAULTS } from "../../src/api/operator-defaults.ts";
import { ONE, parseQuantity } from "../../src/api/values/quantity.ts";
import { holdCapacity } from "../../src/wake-agent/hold/capacity.ts";
import { allPages, ROOT } from "./support/pages.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const pages = allPages().filter((page) => page !== "CHANGELOG.md" && !page.startsWith("docs/adr/"));

const bytesOf = (quantity: string): number => Number((parseQuantity(quantity) ?? 0n) / ONE);

describe("held queries", () => {
  const agentLimit = /limits: \{ memory: "(\w+)" \}/.exec(read("src/gateway/wake-container.ts"))?.[1] ?? "";
  const capacity = (envoyLimitBytes: number): number =>
    holdCapacity({
      envoyLimitBytes,
      envoyAllocatedBytes: 0,
      perHoldBytes: 4 * 1024 ** 2,
      fallback: 256,
      ownLimitBytes: bytesOf(agentLimit),
    });

  test.each(["docs/gateway.md", "docs/auto-stop-and-wake.md"])("%s has the maximum number", (page) => {
    expect(read(page)).toContain(`at most ${capacity(1024 ** 4)}, which is what the wake agent's own 256 MiB hold`);
    expect(read(page)).not.toContain("100,000");
  });

  test("docs/gateway.md: the table by memory limit", () => {
    for (const [, limit = "", held] of read("docs/gateway.md").matchAll(/^\| (\d+[MG]i) \| (\d+) \|$/gm))
      expect([limit, capacity(bytesOf(limit))]).toEqual([limit, Number(held)]);
    expect(read("docs/gateway.md")).toMatch(/^\| 512Mi \| 32 \|$/m);
  });
});

test.each(["Secrets", "Pods", "PersistentVolumeClaims"])("docs/security.md has the verbs of the role: %s", (kind) => {
  const rules = read("charts/firebolt-operator/templates/_rules.tpl");
  const [, verbs] = new RegExp(`resources: \\[${kind.toLowerCase()}\\]\n\\s*verbs: \\[([^\\]]*)\\]`).exec(rules) ?? [];
  expect(verbs).toBeDefined();
  expect(read("docs/security.md")).toContain(`| ${kind} | ${verbs} |`);
});

describe("Secrets", () => {
  test("no page claims that their contents are watched, or that the role is narrower than it is", () => {
    expect(pages.filter((page) => /watch(?:es)? on Secrets/.test(read(page)))).toEqual([]);
    for (const page of ["SECURITY.md", "docs/install.md"]) {
      expect(read(page).replaceAll(/\s+/g, " "), page).toContain("Contents of Secrets are neither watched nor cached");
      expect(read(page).replaceAll(/\s+/g, " "), page).toContain(
        "its role can read all Secrets of the namespaces that it watches",
      );
    }
  });
});

describe("versions", () => {
  const compatibility = read("docs/adopt/compatibility.md");
  const chart: unknown = parse(read("charts/firebolt-operator/Chart.yaml"));
  const kubeVersion = JSON.stringify(chart).match(/"kubeVersion":">=(\d+\.\d+)/)?.[1];

  test("the compatibility page has the defaults and what tests run", () => {
    const { engine, metadata, postgres, envoy } = OPERATOR_DEFAULTS.images;
    for (const image of [engine, metadata, postgres, envoy]) expect(compatibility).toContain(`\`${image}\``);
    for (const name of ["kube-apiserver", "envoy", "helm"] as const)
      expect(compatibility).toContain(PINS[name].version.replace(/^v/, ""));
    expect(compatibility).toContain(`${kubeVersion} or newer`);
    expect(read("docs/install.md")).toContain(`${kubeVersion} or newer`);
  });
});

test("images.txt lists what can be pulled, and no image of a feature that cannot be enabled", () => {
  const { engineWeb, ...used } = OPERATOR_DEFAULTS.images;
  const listed = read("images.txt").trim().split("\n");
  expect(listed.slice(1)).toEqual(Object.values(used));
  expect(listed).not.toContain(engineWeb);
  expect(read("charts/firebolt-operator/Chart.yaml")).not.toContain(engineWeb);
});

test("nothing links to a project page other than the one that package.json names", () => {
  const { homepage } = JSON.parse(read("package.json")) as { readonly homepage?: string };
  const files = globSync(["charts/**/*.{yaml,json,md,tpl}", "scripts/**/*.ts", "docs/**/*.md", "*.md"], { cwd: ROOT });
  expect(files.length).toBeGreaterThan(50);
  const links = files.flatMap((file) => read(file).match(/https?:\/\/github\.com\/firebolt-db\/[\w./-]+/g) ?? []);
  expect(links.filter((link) => homepage === undefined || !link.startsWith(homepage))).toEqual([]);
});

test("README.md lists the stand-ins on its first screen", () => {
  const first = read("README.md").split("\n").slice(0, 20).join("\n");
  expect(first).toMatch(/\| stand-in \| the \*\*engine\*\*/);
  expect(first).toContain("No real engine or metadata image has been run with this operator");
});

test.each(["docs/admission.md", "docs/auto-stop-and-wake.md", "docs/gateway.md"])(
  "%s is a user's guide down to its last part",
  (page) => {
    const [guide = "", built] = read(page).split("\n## Implementation\n");
    expect(built).toBeDefined();
    expect(guide.match(/\b(?:src|packages|test)\/[\w/.*-]+/g) ?? []).toEqual([]);
  },
);

test("alerts and series that pages outside docs/monitoring.md name are there", () => {
  const alerts = globSync("charts/firebolt-operator/alerts/*.yaml", { cwd: ROOT }).map(read).join("\n");
  const source = globSync(["src/**/*.ts", "packages/*/src/**/*.ts"], { cwd: ROOT }).map(read).join("\n");
  const adopters = pages
    .filter((page) => /^docs\/(?:adopt|operations)\//.test(page))
    .map(read)
    .join("\n");
  const words = (pattern: RegExp): readonly string[] => [...new Set(adopters.match(pattern))];
  const named = words(/`Firebolt(?:Operator|Engine|Instance|Gateway|Wake|Reconcile|Webhook)[A-Z]\w+`/g);
  expect(named.length).toBeGreaterThan(12);
  expect(named.filter((alert) => !alerts.includes(`alert: ${alert.replaceAll("`", "")}\n`) && !isKind(alert))).toEqual(
    [],
  );
  expect(words(/\bfirebolt_(?:engine|instance|gateway)_[a-z_]+/g).filter((series) => !source.includes(series))).toEqual(
    [],
  );
});

const isKind = (word: string): boolean => /^`FireboltEngineClass/.test(word);
