// `npm run generate`: writes every generated file. `npm run generate -- --check`: writes nothing and fails when one is
// stale. Works without Go for everything but the two files taken from Kubernetes, and reports when it could not compare them.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { API_PAGE, renderApiPage } from "../packages/kube/scripts/api-page.ts";
import { ARCHITECTURE_PAGE, renderArchitecturePage } from "./architecture/drawing.ts";
import { readRules } from "./architecture/rules.ts";
import { CHART_README, CHART_VALUES, renderChartReadme } from "./generate/chart-readme.ts";
import { ENGINE_DASHBOARD, fillGauges } from "./generate/dashboards.ts";
import { fillTables, TABLE_PAGES } from "./generate/doc-tables.ts";
import { fillHealthChecks, HEALTH_CHECKS_PAGE } from "./generate/health-checks.ts";
import { LUA_SCRIPTS, renderLuaModule } from "./generate/lua.ts";
import { pinnedKubernetesVersion, readOpenApi } from "./generate/openapi.ts";
import {
  POD_TEMPLATE_FILE,
  parsePodTemplateFile,
  renderFromDefinitions,
  renderFromOpenApi,
} from "./generate/outputs.ts";
import { PACKED_SCHEMA_FILE, renderPackedSchema } from "./generate/packed-schema.ts";

const ROOT = join(import.meta.dirname, "..");

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
  const { check } = values;
  const source = await readOpenApi(ROOT, check ? "cache" : "download");
  const taken = source.type === "found" ? renderFromOpenApi(source.openApi) : new Map<string, string>();
  if (source.type === "unavailable") {
    console.warn(`generate: the files taken from Kubernetes were not compared with Kubernetes' own: ${source.why}`);
  }
  const podTemplate = parsePodTemplateFile(taken.get(POD_TEMPLATE_FILE) ?? (await readCommitted(POD_TEMPLATE_FILE)));
  const pinned = await pinnedKubernetesVersion(ROOT);
  if (podTemplate.kubernetesVersion !== pinned) {
    console.error(`generate: ${POD_TEMPLATE_FILE} is of ${podTemplate.kubernetesVersion}, but ${pinned} is pinned`);
    return 1;
  }
  const outputs = new Map([...taken, ...renderFromDefinitions(podTemplate, await packageVersion())]);
  for (const script of LUA_SCRIPTS)
    outputs.set(script.module, renderLuaModule(script, await readFile(join(ROOT, script.source), "utf8")));
  for (const page of TABLE_PAGES) outputs.set(page, fillTables(page, await readFile(join(ROOT, page), "utf8")));
  outputs.set(HEALTH_CHECKS_PAGE, fillHealthChecks(await readFile(join(ROOT, HEALTH_CHECKS_PAGE), "utf8")));
  outputs.set(ENGINE_DASHBOARD, fillGauges(await readFile(join(ROOT, ENGINE_DASHBOARD), "utf8")));
  const packed = renderPackedSchema(podTemplate.schema, await readIfPresent(PACKED_SCHEMA_FILE));
  outputs.set(PACKED_SCHEMA_FILE, packed);
  outputs.set(API_PAGE, renderApiPage(join(ROOT, "packages/kube")));
  outputs.set(CHART_README, renderChartReadme(await readFile(join(ROOT, CHART_VALUES), "utf8")));
  outputs.set(
    ARCHITECTURE_PAGE,
    renderArchitecturePage(await readFile(join(ROOT, ARCHITECTURE_PAGE), "utf8"), readRules(ROOT)),
  );
  const stale = await staleOf(outputs);
  return check ? report(stale, outputs.size) : write(stale, outputs);
}

function report(stale: readonly string[], total: number): number {
  for (const path of stale) console.error(`generate: ${path} is stale; run \`npm run generate\``);
  if (stale.length === 0) console.log(`generate: ${total} files are up to date`);
  return stale.length === 0 ? 0 : 1;
}

async function write(stale: readonly string[], outputs: ReadonlyMap<string, string>): Promise<number> {
  for (const path of stale) {
    const file = join(ROOT, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, outputs.get(path) ?? "");
    console.log(`generate: wrote ${path}`);
  }
  console.log(`generate: ${outputs.size} files, ${stale.length} written`);
  return 0;
}

/** Paths whose file is missing or differs. */
async function staleOf(outputs: ReadonlyMap<string, string>): Promise<readonly string[]> {
  const stale: string[] = [];
  for (const [path, text] of outputs) {
    if ((await readIfPresent(path)) !== text) stale.push(path);
  }
  return stale;
}

async function readCommitted(path: string): Promise<string> {
  const text = await readIfPresent(path);
  if (text === undefined)
    throw new Error(`${path} is missing and cannot be made without the Go module k8s.io/kubernetes`);
  return text;
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(join(ROOT, path), "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

async function packageVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  const version =
    typeof manifest === "object" && manifest !== null && "version" in manifest ? manifest.version : undefined;
  if (typeof version !== "string") throw new Error("package.json has no version");
  return version;
}

process.exitCode = await main();
