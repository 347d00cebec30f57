// What the chart rejects, with the message: unknown or malformed values by its schema, contradictory values by its
// templates. Also that the schema and the values match.

import { readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Helm, OPERATOR_CHART, openHelm, type Values } from "../harness/helm/helm.ts";

let helm: Helm;
beforeAll(async () => {
  helm = await openHelm();
});
afterAll(() => helm?.[Symbol.asyncDispose]());

const release = (values: Values, chart = OPERATOR_CHART) => ({ name: "fo", namespace: "ops", values, chart });

describe("rejected by the schema", () => {
  test.each<{ values: Values; want: RegExp }>([
    { values: { replicas: 2 }, want: /additional properties 'replicas' not allowed/ },
    { values: { webhook: { enable: true } }, want: /\/webhook.*additional properties 'enable' not allowed/ },
    { values: { engineResourceBounds: { maxGPU: 1 } }, want: /\/engineResourceBounds.*'maxGPU' not allowed/ },
    { values: { wakeAgent: { enabled: "yes" } }, want: /\/wakeAgent\/enabled.*want boolean/ },
    { values: { replicaCount: 0 }, want: /\/replicaCount.*minimum: got 0, want 1/ },
    { values: { replicaCount: "2" }, want: /\/replicaCount.*want integer/ },
    { values: { image: { pullPolicy: "Sometimes" } }, want: /\/image\/pullPolicy.*'Always', 'IfNotPresent', 'Never'/ },
    { values: { image: { digest: "sha256:abc" } }, want: /\/image\/digest.*does not match pattern/ },
    { values: { webhook: { port: 70_000 } }, want: /\/webhook\/port.*maximum: got 70,?000, want 65,?535/ },
    {
      values: { readinessProbe: { periodSeconds: 0 } },
      want: /\/readinessProbe\/periodSeconds.*minimum: got 0, want 1/,
    },
    { values: { livenessProbe: { successThreshold: 1 } }, want: /\/livenessProbe.*'successThreshold' not allowed/ },
    { values: { openshift: true }, want: /\/openshift/ },
    { values: { updateStrategy: { type: "OnDelete" } }, want: /\/updateStrategy\/type.*'RollingUpdate', 'Recreate'/ },
    { values: { podDisruptionBudget: { minAvailable: "half" } }, want: /\/podDisruptionBudget\/minAvailable/ },
    {
      values: { serviceMonitor: { operator: { scrapeTimeout: "soon" } } },
      want: /\/serviceMonitor\/operator\/scrapeTimeout/,
    },
    { values: { extraObjects: [{ kind: "ConfigMap" }] }, want: /\/extraObjects\/0.*'apiVersion'/ },
    { values: { webhook: { certMode: "vault" } }, want: /\/webhook\/certMode.*'self-managed'/ },
    {
      values: { webhook: { validatingWebhookConfiguration: { timeoutSeconds: 31 } } },
      want: /timeoutSeconds.*maximum: got 31, want 30/,
    },
    {
      values: { webhook: { mutatingWebhookConfiguration: { failurePolicy: "Maybe" } } },
      want: /failurePolicy.*'Fail', 'Ignore'/,
    },
    { values: { metrics: { bindAddress: "8443" } }, want: /\/metrics\/bindAddress.*does not match pattern/ },
    { values: { engineResourceBounds: { maxMemory: "lots" } }, want: /\/engineResourceBounds\/maxMemory/ },
    { values: { watchNamespaces: "a,b" }, want: /\/watchNamespaces.*want array/ },
    { values: { watchNamespaces: ["Team A"] }, want: /\/watchNamespaces\/0.*does not match pattern/ },
    { values: { watchNamespaces: ["a", "a"] }, want: /\/watchNamespaces.*equal/ },
    { values: { wakeAgent: { mode: "poll" } }, want: /\/wakeAgent\/mode.*'annotation', 'demand'/ },
    { values: { gatewayWakeClusterRole: { name: "a/b" } }, want: /\/gatewayWakeClusterRole\/name/ },
    { values: { gatewayWakeClusterRole: { enabled: true } }, want: /\/gatewayWakeClusterRole.*'enabled' not allowed/ },
    { values: { podSecurity: { componentSeccomp: "Localhost:x" } }, want: /\/podSecurity\/componentSeccomp.*'none'/ },
    { values: { logging: { level: "chatty" } }, want: /\/logging\/level/ },
    { values: { podSecurity: { engineSeccomp: "Localhost:" } }, want: /\/podSecurity\/engineSeccomp/ },
    { values: { metadata: { configFormat: "toml" } }, want: /\/metadata\/configFormat.*'xml', 'yaml'/ },
    { values: { controllers: { concurrency: { engine: 0 } } }, want: /\/controllers\/concurrency\/engine/ },
    { values: { additionalArgs: ["zap-devel"] }, want: /\/additionalArgs\/0/ },
    { values: { imagePullSecrets: ["registry"] }, want: /\/imagePullSecrets\/0.*want object/ },
    { values: { podMonitor: { engines: { interval: "often" } } }, want: /\/podMonitor\/engines\/interval/ },
    { values: { extraVolumeMounts: [{ name: "x" }] }, want: /\/extraVolumeMounts\/0.*'mountPath'/ },
  ])("$values", async ({ values, want }) => {
    const said = await helm.refusal(release(values));
    expect(said).toContain("values don't meet the specifications of the schema");
    expect(said).toMatch(want);
  });
});

describe("rejected because values contradict each other", () => {
  test.each<{ values: Values; want: string }>([
    {
      values: { replicaCount: 2, leaderElection: { enabled: false } },
      want: "replicaCount: more than one replica needs leaderElection.enabled=true",
    },
    { values: { telemetry: { enabled: true } }, want: "telemetry.endpoint: required" },
    {
      values: { webhook: { certMode: "secret" } },
      want: "webhook.certSecretName: required with webhook.certMode=secret",
    },
    {
      values: { webhook: { certMode: "self-managed", certSecretName: "pair" } },
      want: "webhook.certSecretName: only used with webhook.certMode=secret, not self-managed",
    },
  ])("$values", async ({ values, want }) => {
    expect(await helm.refusal(release(values))).toContain(want);
  });
});

test("values of other charts' making are accepted", async () => {
  await helm.template(release({ global: { anything: 1 } }));
});

test("the image of the defaults is the first that the chart lists for mirrors", async () => {
  const chart: unknown = parse(readFileSync(join(OPERATOR_CHART, "Chart.yaml"), "utf8"));
  const listed: unknown = parse(String(valueAt(chart, ["annotations", "helm.sh/images"])));
  const deployment = (await helm.render(release({}))).find(({ kind }) => kind === "Deployment");
  const image = valueAt(deployment, ["spec", "template", "spec", "containers", 0, "image"]);
  expect(valueAt(listed, [0])).toEqual({ name: "firebolt-operator", image });
});

describe("schema and values", () => {
  const values: unknown = parse(readFileSync(join(OPERATOR_CHART, "values.yaml"), "utf8"));
  const schema: unknown = JSON.parse(readFileSync(join(OPERATOR_CHART, "values.schema.json"), "utf8"));

  test("every value is described, and everything described is a value", () => {
    expect(differences(values, schema, "")).toEqual([]);
  });

  test("no object of ours takes unknown keys", () => {
    expect(openObjects(schema, "")).toEqual([]);
  });
});

describe("the manager's pod", () => {
  const podOf = async (values: Values, args: readonly string[] = []) => {
    const objects = await helm.render({ ...release(values), args });
    return valueAt(
      objects.find(({ kind }) => kind === "Deployment"),
      ["spec", "template", "spec"],
    );
  };
  const ids = ["runAsUser", "runAsGroup", "fsGroup", "supplementalGroups"] as const;
  const fixed = { podSecurityContext: { runAsUser: 7, supplementalGroups: [7] }, securityContext: { runAsGroup: 7 } };
  const idsIn = async (values: Values, args?: readonly string[]) => {
    const text = JSON.stringify(await podOf(values, args));
    return ids.filter((id) => text.includes(`"${id}"`));
  };

  test("sets no user ids on OpenShift, or if disabled", async () => {
    const openshift = ["--api-versions=security.openshift.io/v1"];
    expect(await idsIn(fixed)).toEqual(ids);
    expect(await idsIn(fixed, openshift)).toEqual([]);
    expect(await idsIn({ ...fixed, openshift: "always" })).toEqual([]);
    expect(await idsIn({ ...fixed, openshift: "never" }, openshift)).toEqual(ids);
    // The rest stays, so that the pod still passes the Pod Security level restricted.
    expect(await podOf({}, openshift)).toMatchObject({
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    });
  });

  test("a key of a security context is unset with null", async () => {
    expect(await idsIn({ podSecurityContext: { fsGroup: null } })).toEqual([]);
  });

  test("has room for thousands of engines by default, and no CPU limit", async () => {
    const resources = { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "512Mi" } };
    expect(valueAt(await podOf({}), ["containers", 0, "resources"])).toEqual(resources);
    const bare = await podOf({ resources: { requests: null, limits: null } });
    expect(valueAt(bare, ["containers", 0])).not.toHaveProperty("resources");
  });

  test("runs in the host network if enabled", async () => {
    expect(await podOf({ hostNetwork: true, dnsPolicy: "ClusterFirstWithHostNet" })).toMatchObject({
      hostNetwork: true,
      dnsPolicy: "ClusterFirstWithHostNet",
    });
    expect(await podOf({})).not.toHaveProperty("hostNetwork");
  });
});

describe("the budget of the manager", () => {
  const budgetOf = async (podDisruptionBudget: Values) => {
    const objects = await helm.render(release({ podDisruptionBudget: { enabled: true, ...podDisruptionBudget } }));
    const { selector: _, ...spec } = valueAt(
      objects.find(({ kind }) => kind === "PodDisruptionBudget"),
      ["spec"],
    ) as { readonly selector: unknown };
    return spec;
  };

  test("lets a single replica go by default, so that its node can be drained", async () => {
    expect(await budgetOf({})).toEqual({ maxUnavailable: 1 });
    expect(await budgetOf({ minAvailable: 1 })).toEqual({ minAvailable: 1 });
    expect(await budgetOf({ minAvailable: 0 })).toEqual({ minAvailable: 0 });
    expect(await budgetOf({ maxUnavailable: "50%" })).toEqual({ maxUnavailable: "50%" });
  });

  test.each([
    { replicaCount: 1, minAvailable: 1, warns: true },
    { replicaCount: 1, minAvailable: "50%", warns: true },
    { replicaCount: 1, minAvailable: "", warns: false },
    { replicaCount: 1, minAvailable: 0, warns: false },
    { replicaCount: 2, minAvailable: 1, warns: false },
  ])("minAvailable=$minAvailable with $replicaCount replicas: warns $warns", async (one) => {
    const { replicaCount, minAvailable, warns } = one;
    const said = await helm.notes(release({ replicaCount, podDisruptionBudget: { enabled: true, minAvailable } }));
    expect(said.includes("the budget does not allow")).toBe(warns);
  });
});

test("monitors carry the labels by which Prometheus finds them, and what else their users set", async () => {
  const endpoint = { scrapeTimeout: "5s", relabelings: [{ action: "drop" }], metricRelabelings: [{ action: "keep" }] };
  const monitor = { enabled: true, labels: { release: "prometheus" }, ...endpoint };
  const objects = await helm.render(
    release({ podMonitor: { engines: monitor, gateway: monitor }, serviceMonitor: { operator: monitor } }),
  );
  const monitors = objects.filter(({ kind }) => kind.endsWith("Monitor"));
  expect(monitors).toHaveLength(3);
  for (const { metadata, spec } of monitors) {
    expect(metadata).toMatchObject({ labels: { release: "prometheus", "app.kubernetes.io/instance": "fo" } });
    const endpoints = valueAt(spec, ["podMetricsEndpoints"]) ?? valueAt(spec, ["endpoints"]);
    for (const one of endpoints as readonly object[]) expect(one).toMatchObject({ interval: "15s", ...endpoint });
  }
});

test("no alert for a missing leader without leader election", async () => {
  const rules = (values: Values) => helm.template(release({ prometheusRule: { enabled: true }, ...values }));
  expect(await rules({})).toContain("FireboltOperatorNoLeader");
  expect(await rules({ leaderElection: { enabled: false } })).not.toContain("alert: FireboltOperatorNoLeader");
});

test("the alerts of the chart all become rules, without a word left to replace", async () => {
  const files = readdirSync(join(OPERATOR_CHART, "alerts"));
  const alerts = files.flatMap(
    (file) => readFileSync(join(OPERATOR_CHART, "alerts", file), "utf8").match(/- alert: \w+/g) ?? [],
  );
  const text = await helm.template(release({ prometheusRule: { enabled: true } }));
  expect(text.match(/alert: Firebolt\w+/g)).toHaveLength(alerts.length);
  expect(text).not.toMatch(/<(fn|ns|docs)>/);
});

describe("alerts and dashboards", () => {
  const group = {
    name: "firebolt",
    rules: [
      { alert: "Down", expr: 'absent(up{job="<fn>-metrics"} == 1)', for: "5m", labels: { severity: "critical" } },
      {
        alert: "Noisy",
        expr: "vector(1)",
        annotations: { summary: "{{ $labels.name }} is noisy in <ns>", runbook_url: "<docs>/a.md" },
      },
      { record: "firebolt:up", expr: "up" },
    ],
  };
  let chart: string;
  beforeAll(async () => {
    chart = join(await mkdtemp(join(tmpdir(), "chart-")), "firebolt-operator");
    await cp(OPERATOR_CHART, chart, { recursive: true, filter: (path) => !/\/(alerts|dashboards|crds)$/.test(path) });
    await mkdir(join(chart, "alerts"));
    await mkdir(join(chart, "dashboards"));
    await writeFile(join(chart, "alerts/rules.yaml"), JSON.stringify({ groups: [group] }));
    await writeFile(join(chart, "dashboards/fleet.json"), '{\n  "title": "Fleet {{ x }}"\n}\n');
  });
  afterAll(() => rm(join(chart, ".."), { recursive: true, force: true }));

  const rules = async (changes: Values) => {
    const prometheusRule = { enabled: true, labels: { release: "prometheus" }, rules: changes };
    const objects = await helm.render(release({ prometheusRule }, chart));
    return objects.find(({ kind }) => kind === "PrometheusRule");
  };

  test("the files become a PrometheusRule, with the release's name and Prometheus' own templates untouched", async () => {
    const [down, noisy, record] = group.rules;
    // A path in the source: no address of a project that is not published is made up.
    const runbook = "docs/a.md";
    expect(await rules({})).toMatchObject({
      metadata: { labels: { release: "prometheus" } },
      spec: {
        groups: [
          {
            name: "firebolt",
            rules: [
              { ...down, expr: 'absent(up{job="fo-firebolt-operator-metrics"} == 1)' },
              { ...noisy, annotations: { summary: "{{ $labels.name }} is noisy in ops", runbook_url: runbook } },
              record,
            ],
          },
        ],
      },
    });
  });

  test("runbooks are where the documentation was published", async () => {
    const prometheusRule = { enabled: true, docsUrl: "https://git.example.com/firebolt/docs/" };
    const objects = await helm.render(release({ prometheusRule }, chart));
    expect(JSON.stringify(objects)).toContain('"runbook_url":"https://git.example.com/firebolt/docs/a.md"');
  });

  test("an alert can be switched off or changed", async () => {
    const changed = await rules({
      Noisy: { enabled: false },
      Down: { for: "1h", severity: "info", expr: "vector(0)" },
    });
    const down = { alert: "Down", expr: "vector(0)", for: "1h", labels: { severity: "info" } };
    expect(changed).toMatchObject({ spec: { groups: [{ rules: [down, { record: "firebolt:up" }] }] } });
  });

  test("a change of an alert that does not exist is rejected", async () => {
    const values = { prometheusRule: { enabled: true, rules: { Downn: { enabled: false } } } };
    expect(await helm.refusal(release(values, chart))).toContain("prometheusRule.rules.Downn: there is no such alert");
  });

  test("every dashboard becomes a ConfigMap, to the byte", async () => {
    const objects = await helm.render(release({ grafanaDashboards: { enabled: true } }, chart));
    expect(objects.filter(({ kind }) => kind === "ConfigMap")).toMatchObject([
      {
        metadata: { name: "fo-firebolt-operator-dashboard-fleet", labels: { grafana_dashboard: "1" } },
        data: { "fleet.json": '{\n  "title": "Fleet {{ x }}"\n}' },
      },
    ]);
  });

  test("nothing of it without the values", async () => {
    const kinds = (await helm.render(release({}, chart))).map(({ kind }) => kind);
    expect(kinds).not.toContain("PrometheusRule");
    expect(kinds).not.toContain("ConfigMap");
  });
});

type Node = Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value);

/** Paths where values and schema do not know each other. */
function differences(values: unknown, schema: unknown, path: string): readonly string[] {
  const properties = isNode(schema) && isNode(schema["properties"]) ? schema["properties"] : undefined;
  if (properties === undefined || !isNode(values)) return [];
  // Without defaults there is nothing to compare; `global` belongs to Helm.
  if (Object.keys(values).length === 0) return [];
  const names = new Set([...Object.keys(values), ...Object.keys(properties)]);
  return [...names].flatMap((name) => {
    if (name === "global" && path === "") return [];
    if (!(name in values)) return [`${path}/${name} is no value`];
    if (!(name in properties)) return [`${path}/${name} is not described`];
    return differences(values[name], properties[name], `${path}/${name}`);
  });
}

/** Objects with named properties that take others as well. */
function openObjects(schema: unknown, path: string): readonly string[] {
  if (!isNode(schema)) return [];
  const properties = isNode(schema["properties"]) ? schema["properties"] : {};
  const here = Object.keys(properties).length > 0 && schema["additionalProperties"] !== false ? [path] : [];
  return [...here, ...Object.entries(properties).flatMap(([name, below]) => openObjects(below, `${path}/${name}`))];
}
