// The text that `npm start` prints once the platform is up: the first query and its result, how to use the platform from another terminal,
// and what to try. Pure.
import type { Style } from "../../src/plugin/terminal/style.ts";
import { ENGINE_HEADER } from "../deploy/query.ts";
import { SAMPLE } from "../deploy/sample.ts";
import type { Mode } from "./target.ts";

export interface Explanation {
  readonly mode: Mode;
  readonly style: Style;
  readonly readySeconds: number;
  readonly gateway: string;
  readonly namespace: string;
  /** Undefined where the user's own is used. */
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  /** Folder with kubectl, helm and kubectl-firebolt. */
  readonly tools: string;
  readonly sql: string;
  readonly result: string;
  /** Another reference of the engine's image, to roll to. */
  readonly nextImage: string | undefined;
}

const [ADHOC, REPORTING] = SAMPLE.engines;

/** Printed so that the result is not mistaken for one of a Firebolt engine. */
const REALITY: Readonly<Record<Mode, readonly string[]>> = {
  cluster: [
    "Real:      Kubernetes, the operator, the gateway (Envoy and wake agent), PostgreSQL.",
    "Stand-ins: the engines and the metadata service. A stand-in engine computes simple SQL itself and stores nothing: the",
    "           result above is its own. No image of Firebolt is used; docs/stand-ins.md describes the stand-ins.",
  ],
  simulated: [
    "Real:      the control plane of Kubernetes, the operator, the gateway (Envoy and wake agent).",
    "Simulated: nodes and pods, including those of PostgreSQL and the metadata service, which exist as objects only.",
    "Stand-in:  one process serves the pods of all engines. It computes simple SQL itself and stores nothing: the result",
    "           above is its own. No image of Firebolt is used; docs/stand-ins.md describes the stand-ins.",
  ],
  existing: ["Everything runs in your cluster, with the images given by --image-* flags or the operator's defaults."],
};

export function explainText(facts: Explanation): string {
  const { style, gateway, sql } = facts;
  const note = (text: string): string => style.dim(`# ${text}`);
  const query = (engine: string): string =>
    `curl -s ${gateway} -H '${ENGINE_HEADER}: ${engine}' --data-binary '${sql}'`;
  return [
    "",
    style.bold(`Firebolt is up after ${facts.readySeconds.toFixed(0)} s. A query through the gateway, and its result:`),
    "",
    `  $ ${query(ADHOC)}`,
    `  ${facts.result.trim()}`,
    "",
    style.bold("What is real here, and what is not"),
    "",
    ...REALITY[facts.mode].map((line) => `  ${line}`),
    "",
    style.bold("In another terminal"),
    "",
    `  export PATH=${facts.tools}:$PATH`,
    ...(facts.kubeconfig === undefined ? [] : [`  export KUBECONFIG=${facts.kubeconfig}`]),
    `  kubectl firebolt ${where(facts)} status --watch   ${note("the tree above, live")}`,
    `  kubectl firebolt ${where(facts)} logs ${ADHOC}`,
    "",
    style.bold("Try"),
    "",
    `  ${note(`Roll ${ADHOC} to another image, blue-green: queries keep running, and the tree shows both generations.`)}`,
    `  ${rollCommand(facts)}`,
    "",
    `  ${note(`Stop ${REPORTING}, then send it a query: the gateway holds the query, starts the engine and returns the result.`)}`,
    `  kubectl firebolt ${where(facts)} stop ${REPORTING} --wait`,
    `  ${query(REPORTING)}`,
    "",
    `  ${note(`Name the engine by host, or name none: ${ADHOC} is the default engine. SDKs connect to these addresses.`)}`,
    `  curl -s ${byHost(gateway, REPORTING)} --data-binary '${sql}'`,
    `  curl -s ${gateway} --data-binary '${sql}'`,
    "",
    `Ctrl-C here, or \`npm run stop\` in the project's folder, stops it; ${ending(facts.mode)}`,
    "",
  ].join("\n");
}

/** The sample's gateway serves hosts below localhost. */
function byHost(gateway: string, engine: string): string {
  const url = new URL(gateway);
  return `${url.protocol}//${engine}.localhost:${url.port}`;
}

/** Flags rather than a change of the user's kubeconfig. */
function where({ namespace, context }: Explanation): string {
  return [...(context === undefined ? [] : [`--context ${context}`]), `-n ${namespace}`].join(" ");
}

function rollCommand(facts: Explanation): string {
  const { nextImage } = facts;
  const template =
    nextImage === undefined
      ? { metadata: { annotations: { "example.com/rolled": "once" } } }
      : { spec: { containers: [{ name: "engine", image: nextImage }] } };
  const patch = JSON.stringify({ spec: { template } });
  return `kubectl ${where(facts)} patch fireboltengine ${ADHOC} --type=merge -p '${patch}'`;
}

function ending(mode: Mode): string {
  return mode === "existing"
    ? "everything that was added to your cluster is deleted."
    : "no process, mount or namespace is left, and no file but the cache of programs and images.";
}

/** Printed at the start and again at the end, so that a simulation is not mistaken for a real cluster. */
export function simulatedText(reason: string | undefined): string {
  return [
    `PODS ARE SIMULATED${reason === undefined ? "" : `: ${reason}`}.`,
    "The control plane and the operator are real; nodes and pods exist only as objects. Queries go through a real Envoy to one",
    "stand-in engine; both run as processes beside the control plane.",
  ].join("\n");
}
