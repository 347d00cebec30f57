// What a person is told once the platform is up: the query that was just answered, how to reach everything from another terminal, and what
// to try. Pure text.
import type { Style } from "../../src/plugin/terminal/style.ts";
import { ENGINE_HEADER } from "../platform/query.ts";
import { SAMPLE } from "../platform/sample.ts";
import type { Mode } from "./place.ts";

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
  readonly answer: string;
  /** Another reference of the engine's image, to roll to. */
  readonly nextImage: string | undefined;
}

const [ADHOC, REPORTING] = SAMPLE.engines;

/** So that nobody takes the answer for one of a Firebolt engine. */
const REALITY: Readonly<Record<Mode, readonly string[]>> = {
  cluster: [
    "Real:      Kubernetes, the operator, the gateway (Envoy and wake agent), PostgreSQL.",
    "Stand-ins: the engines and the metadata service. A stand-in engine computes simple SQL itself and stores nothing: the",
    "           answer above is its own. No image of Firebolt is used; docs/stand-ins.md says what stand-ins can do.",
  ],
  simulated: [
    "Real:      the control plane of Kubernetes, the operator, the gateway (Envoy and wake agent).",
    "Simulated: nodes and pods, and with them PostgreSQL and the metadata service, which exist as objects only.",
    "Stand-in:  one process answers for the pods of all engines. It computes simple SQL itself and stores nothing: the answer",
    "           above is its own. No image of Firebolt is used; docs/stand-ins.md says what stand-ins can do.",
  ],
  existing: [
    "Everything runs in your cluster, with the images that you named, or else those that the operator has by default.",
  ],
};

export function explainText(facts: Explanation): string {
  const { style, gateway, sql } = facts;
  const note = (text: string): string => style.dim(`# ${text}`);
  const query = (engine: string): string =>
    `curl -s ${gateway} -H '${ENGINE_HEADER}: ${engine}' --data-binary '${sql}'`;
  return [
    "",
    style.bold(`Firebolt is up after ${facts.readySeconds.toFixed(0)} s. A query through the gateway, and its answer:`),
    "",
    `  $ ${query(ADHOC)}`,
    `  ${facts.answer.trim()}`,
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
    `  ${note(`Roll ${ADHOC} to another image, blue-green: queries go on, and the tree shows both generations.`)}`,
    `  ${rollCommand(facts)}`,
    "",
    `  ${note(`Stop ${REPORTING}, then send it a query: the gateway holds the query, wakes the engine and answers.`)}`,
    `  kubectl firebolt ${where(facts)} stop ${REPORTING} --wait`,
    `  ${query(REPORTING)}`,
    "",
    `Ctrl-C here, or \`npm run stop\` in the project's folder, ends it; ${ending(facts.mode)}`,
    "",
  ].join("\n");
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
    ? "what was put into your cluster is taken out again."
    : "no process, mount, namespace or file stays behind.";
}

/** Said at the beginning and once more at the end, so that nobody takes a simulation for the real thing. */
export function simulatedText(reason: string | undefined): string {
  return [
    `PODS ARE SIMULATED${reason === undefined ? "" : `: ${reason}`}.`,
    "The control plane and the operator are real; nodes and pods exist only as objects. Queries are answered by a real Envoy and one",
    "stand-in engine, which run as processes beside them.",
  ].join("\n");
}
