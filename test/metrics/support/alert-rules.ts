// The alerting rules and dashboards of the chart, read from its files.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { RuleGroup } from "../../harness/programs/promtool.ts";

const CHART = join(import.meta.dirname, "../../../charts/firebolt-operator");

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface AlertGroup extends RuleGroup {
  readonly rules: readonly AlertRule[];
}

export function readAlertGroups(): readonly AlertGroup[] {
  return filesOf("alerts", ".yaml").flatMap((file) => {
    const { groups } = parse(readFileSync(file, "utf8")) as { readonly groups: readonly AlertGroup[] };
    return groups;
  });
}

interface DashboardFile {
  readonly title: string;
  readonly uid: string;
  readonly panels: readonly {
    readonly id: number;
    readonly type: string;
    readonly title: string;
    readonly datasource?: { readonly uid?: string };
    readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
  }[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly definition?: string }[];
  };
}

export function readDashboards(): readonly DashboardFile[] {
  return filesOf("dashboards", ".json").map((file) => JSON.parse(readFileSync(file, "utf8")) as DashboardFile);
}

function filesOf(folder: string, ending: string): readonly string[] {
  const names = readdirSync(join(CHART, folder)).filter((name) => name.endsWith(ending));
  return names.sort().map((name) => join(CHART, folder, name));
}
