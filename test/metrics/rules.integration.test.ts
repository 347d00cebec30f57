// The alerts and dashboards of the chart, judged by Prometheus's own tool and by pages scraped from what they are about: the running
// operator, a real Envoy, a stand-in engine and the agent's page.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import { type EngineControlPlane, openEngineControlPlane } from "../engine/support/engine-control-plane.ts";
import { type EngineHarness, image, openEngineHarness } from "../engine/support/engine-harness.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { instance } from "../harness/fixtures/manifests.ts";
import { checkRules, type RuleTest, testRules } from "../harness/programs/promtool.ts";
import { type AlertRule, readAlertGroups, readDashboards } from "./support/alert-rules.ts";
import { QUIET_TIMES, SCENARIOS, type Scenario } from "./support/alert-scenarios.ts";
import {
  agentPage,
  apiServerPage,
  discoveringEnvoyPage,
  envoyAndEnginePages,
  healthyPage,
  neverOnThatPage,
} from "./support/exposed-metrics.ts";
import { type MetricsOperator, startMetricsOperator } from "./support/operator-harness.ts";
import { answers, namesIn, type Selector } from "./support/promql-names.ts";
import { parsePage, type Series } from "./support/scrape.ts";

const GROUPS = readAlertGroups();
const RULES: readonly AlertRule[] = GROUPS.flatMap(({ rules }) => rules);
const DASHBOARDS = readDashboards();
/** promtool would compare annotations literally; their templates are checked below. */
const BARE = GROUPS.map(({ name, rules }) => ({ name, rules: rules.map(({ annotations: _, ...rule }) => rule) }));
const DOCS = join(import.meta.dirname, "../../docs");

describe("alerts", () => {
  test("every alert of the contract is there, and each has a scenario", () => {
    const described = new Set(SCENARIOS.map(({ alert }) => alert));
    expect(RULES.map(({ alert }) => alert).sort()).toEqual([...described].sort());
    expect(RULES).toHaveLength(34);
  });

  test("promtool accepts them, annotations and all", async () => {
    expect(await checkRules(GROUPS)).toContain("SUCCESS: 34 rules found");
  });

  test("each fires when it must, not earlier, and keeps quiet otherwise", async () => {
    expect(await testRules(BARE, SCENARIOS.flatMap(testsOf))).toContain("SUCCESS");
  });

  test.each(SCENARIOS)(
    "$alert: its annotations can be rendered, and name the first step and the documentation",
    (scenario) => {
      const rule = RULES.find(({ alert }) => alert === scenario.alert);
      const { summary = "", description = "", runbook_url = "" } = rule?.annotations ?? {};
      for (const [, label = ""] of `${summary} ${description}`.matchAll(/\$labels\.(\w+)/g))
        expect(Object.keys(scenario.labels)).toContain(label);
      expect(description).toMatch(/`kubectl .+`/);
      const [, page = "", heading = ""] = /^<docs>\/([\w-]+\.md)#(\w+)$/.exec(runbook_url) ?? [];
      const headings = [...readFileSync(join(DOCS, page), "utf8").matchAll(/^#+ (.+)$/gm)].map(([, text = ""]) => text);
      expect(headings.map((text) => text.toLowerCase())).toContain(heading);
    },
  );
});

function testsOf({ alert, severity, fires, quietAt, firesAt, labels, quiet }: Scenario): readonly RuleTest[] {
  const inputs = (lines: readonly string[]) =>
    lines.map((line) => {
      const [, series = "", values = ""] = /^(\S+\{.*?\}|\w+) (.+)$/.exec(line) ?? [];
      return { series, values };
    });
  const silent = (eval_time: string) => ({ alertname: alert, eval_time, exp_alerts: [] });
  const loud = { alertname: alert, eval_time: firesAt, exp_alerts: [{ exp_labels: { ...labels, severity } }] };
  return [
    {
      name: alert,
      interval: "1m",
      input_series: inputs(fires),
      alert_rule_test: [...(quietAt === undefined ? [] : [silent(quietAt)]), loud],
    },
    ...quiet.map((lines, i) => ({
      name: `${alert} stays quiet (${i})`,
      interval: "1m",
      input_series: inputs(lines),
      alert_rule_test: QUIET_TIMES.map(silent),
    })),
  ];
}

describe("dashboards", () => {
  test("each has a unique name, selects its data source, and no two panels share an id", () => {
    expect(DASHBOARDS.map(({ title }) => title)).toEqual([
      "Firebolt / Engine",
      "Firebolt / Fleet",
      "Firebolt / Instance",
      "Firebolt / Operator",
    ]);
    expect(new Set(DASHBOARDS.map(({ uid }) => uid)).size).toBe(DASHBOARDS.length);
    for (const { panels, templating } of DASHBOARDS) {
      expect(templating.list[0]).toMatchObject({ name: "datasource", type: "datasource", query: "prometheus" });
      expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
      for (const { type, datasource, targets = [] } of panels) {
        if (type === "row") continue;
        expect(targets.length).toBeGreaterThan(0);
        for (const source of [datasource, ...targets.map((target) => target.datasource)])
          expect(source?.uid).toMatch(/^\$\{datasource\}$/);
      }
    }
  });

  test("no panel is about a feature that cannot be enabled yet", () => {
    const unavailable = /signing_key|_tls_|_auth_/;
    expect(dashboardExpressions().filter(({ expression }) => unavailable.test(expression))).toEqual([]);
  });

  test("promtool understands every expression", async () => {
    const rules = dashboardExpressions().map(({ expression }, i) => ({
      record: `panel:${i}`,
      // Grafana fills these in.
      expr: expression.replace(/\$__range/g, "6h").replace(/\$__rate_interval/g, "5m"),
    }));
    expect(await checkRules([{ name: "panels", rules }])).toContain(`SUCCESS: ${rules.length} rules found`);
  });
});

interface Expression {
  readonly where: string;
  readonly expression: string;
}

function dashboardExpressions(): readonly Expression[] {
  return DASHBOARDS.flatMap(({ title, panels }) =>
    panels.flatMap((panel) =>
      (panel.targets ?? []).map(({ expr }) => ({ where: `${title}: ${panel.title}`, expression: expr })),
    ),
  );
}

/** Added by the scraper: see the monitors of the chart. */
const SCRAPER_LABELS: ReadonlySet<string> = new Set([
  "job",
  "pod",
  "namespace",
  "firebolt_io_engine",
  "firebolt_io_generation",
  "firebolt_io_instance",
  "firebolt_io_component",
]);

describe("against what is really exposed", () => {
  let cluster: EngineControlPlane;
  let harness: EngineHarness;
  let operator: MetricsOperator;
  let ownPage: string;
  let everything: readonly Series[];

  beforeAll(async () => {
    // First: simulated pods and stand-in engines use the same port.
    const others = [await neverOnThatPage(), await envoyAndEnginePages(), await discoveringEnvoyPage(), agentPage()];
    cluster = await openEngineControlPlane();
    harness = await openEngineHarness(cluster, "rules");
    const { namespace, client } = harness;
    operator = await startMetricsOperator({ kubeconfig: cluster.kubeconfig, namespace });
    await client.create(FireboltInstance, instance({ name: "main", namespace }) as FireboltInstance);
    await harness.createClass("c");
    await harness.createEngine("e", { replicas: 1, engineClassRef: "c", drainCheckInterval: "1s", ...image("1") });
    await harness.settled("e", 0, 60_000);
    const autoStop = { enabled: true, activeReplicas: 1, idleTimeout: "2s", pollInterval: "1s" };
    await harness.createEngine("stopped", { replicas: 1, autoStop, ...image("1") });
    await harness.until("stopped", ({ status }) => status?.phase === "stopped", "stopped", 60_000);
    await eventually(async () => {
      const ready = await operator.series({ type: "Ready" });
      expect(ready.filter(({ name, value }) => name.endsWith("status_condition") && value === "1")).toHaveLength(3);
    });
    // Node reports garbage collections only after the first one: allocate until it does.
    ownPage = await eventually(async () => {
      const garbage = Array.from({ length: 1_000_000 }, (_, i) => ({ i }));
      const page = await operator.page();
      expect(page, `${garbage.length} objects`).toContain("nodejs_gc_duration_seconds_sum");
      return page;
    });
    everything = [ownPage, ...others, await apiServerPage(cluster.kubeconfig)].flatMap(parsePage);
  }, 300_000);
  afterAll(async () => {
    await operator[Symbol.asyncDispose]();
    await harness[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  test("every series that an alert or a panel selects exists, with the selected label values", () => {
    const asked = [
      ...RULES.map(({ alert, expr }) => ({ where: alert, expression: expr })),
      ...dashboardExpressions(),
      ...DASHBOARDS.flatMap(({ title, templating }) =>
        templating.list.flatMap(({ name, definition }) =>
          definition === undefined ? [] : [{ where: `${title}: $${name}`, expression: definition }],
        ),
      ),
    ];
    const missing = asked.flatMap(({ where, expression }) => {
      const { selectors, groupings } = namesIn(expression);
      const isLabelQuery = expression.startsWith("label_values(");
      const series = isLabelQuery ? selectors.slice(0, 1) : selectors;
      const labels = isLabelQuery ? selectors.slice(1).map(({ name = "" }) => name) : groupings;
      const found = series.map((selector) => everything.filter((one) => isAnswer(one, selector)));
      const known = new Set(found.flat().flatMap((one) => Object.keys(one.labels)));
      return [
        ...series.filter((_, i) => found[i]?.length === 0).map((selector) => `${where}: ${JSON.stringify(selector)}`),
        ...labels.filter((label) => !known.has(label) && !SCRAPER_LABELS.has(label)).map((l) => `${where}: by ${l}`),
      ];
    });
    expect(missing).toEqual([]);
    expect(asked.length).toBeGreaterThan(100);
  });

  test("nothing fires for the page of a healthy operator", async () => {
    // The numbers stand still for an hour and a half, as a scraper would see them; passes are made all the time.
    const page = await healthyPage(operator, "stopped");
    const numbers = parsePage(page).filter(({ value }) => Number.isFinite(Number(value)));
    const input_series = numbers.map(({ name, labels, value }) => ({
      series: `${name}{${Object.entries({ ...labels, job: "<fn>-metrics" }).map(([l, v]) => `${l}="${v}"`)}}`,
      values: name.endsWith("_last_reconciled_timestamp") ? "0+60x90" : `${value}x90`,
    }));
    const up = { series: 'up{job="<fn>-metrics"}', values: "1x90" };
    const alert_rule_test = RULES.map(({ alert }) => ({ alertname: alert, eval_time: "85m", exp_alerts: [] }));
    const healthy = { name: "healthy", interval: "1m", input_series: [...input_series, up], alert_rule_test };
    expect(await testRules(BARE, [healthy])).toContain("SUCCESS");
  });
});

const isAnswer = (series: Series, selector: Selector): boolean =>
  selector.name === "up" || answers(series, selector, SCRAPER_LABELS);
