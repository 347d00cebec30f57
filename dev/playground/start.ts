// `npm start`: a real Kubernetes control plane on this machine with the operator's CRDs, until Ctrl-C. With `--check` it does the
// same without a person: it looks whether the CRDs are served, prints one line of JSON and ends.
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { resolveAssets } from "../assets/resolver.ts";
import { openApiFromKubeconfig, valueAt } from "../control-plane/api-request.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { manifestFiles } from "../control-plane/custom-resources.ts";

const CRDS = join(import.meta.dirname, "../../config/crd");
const EXPECTED = ["fireboltengineclasses", "fireboltengines", "fireboltinstances"].map(
  (plural) => `${plural}.compute.firebolt.io`,
);

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { check: { type: "boolean", default: false } } });
  const interrupt = listenForInterrupt();
  const startedMs = performance.now();
  const hasCrds = existsSync(CRDS) && manifestFiles(CRDS).length > 0;
  if (!hasCrds) say("config/crd holds no CRDs: run `npm run generate` to make them");
  await using cluster = await startControlPlane({
    components: ["kube-controller-manager", "kube-scheduler"],
    ...(hasCrds ? { crds: CRDS } : {}),
    progress: say,
  });
  const startMs = Math.round(performance.now() - startedMs);
  if (values.check) return await check(cluster, startMs);
  await explain(cluster, startMs);
  await untilAborted(interrupt);
  say("stopping …");
  return 0;
}

/** Aborted by the first Ctrl-C or SIGTERM, also during the start; the second ends the program at once and the reaper cleans up. */
function listenForInterrupt(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => controller.abort());
  return controller.signal;
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  // Waiting for a signal alone does not keep a program running.
  const keepAlive = setInterval(() => undefined, 3_600_000);
  if (!signal.aborted) await once(signal, "abort");
  clearInterval(keepAlive);
}

async function check(cluster: ControlPlane, startMs: number): Promise<number> {
  const served = await servedCrds(cluster);
  const missing = EXPECTED.filter((name) => !served.includes(name));
  process.stdout.write(`${JSON.stringify({ ok: missing.length === 0, startMs, served, missing })}\n`);
  return missing.length === 0 ? 0 : 1;
}

async function servedCrds(cluster: ControlPlane): Promise<readonly string[]> {
  const api = openApiFromKubeconfig(cluster.adminKubeconfig);
  try {
    const { body } = await api.expect({ path: "/apis/compute.firebolt.io/v1alpha1" }, [404]);
    const resources = valueAt(body, ["resources"]);
    const names = Array.isArray(resources) ? resources.map((one) => String(valueAt(one, ["name"]))) : [];
    // Subresources are listed too, as `name/status`.
    return names.filter((name) => !name.includes("/")).map((name) => `${name}.compute.firebolt.io`);
  } finally {
    api.close();
  }
}

async function explain(cluster: ControlPlane, startMs: number): Promise<void> {
  const kubectl = (await resolveAssets(["kubectl"])).get("kubectl") ?? "kubectl";
  process.stdout.write(
    [
      "",
      `A Kubernetes control plane is running at ${cluster.url} (ready after ${(startMs / 1000).toFixed(1)} s).`,
      "In another terminal:",
      "",
      `  export KUBECONFIG=${cluster.adminKubeconfig}`,
      `  ${kubectl} get crds`,
      `  ${kubectl} explain fireboltengine.spec`,
      "",
      "Ctrl-C ends it; nothing stays behind.",
      "",
    ].join("\n"),
  );
}

process.exitCode = await main(process.argv.slice(2));
