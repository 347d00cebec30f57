// Renders the status tree: one aligned line per object, and below an object that waits the reason and the next step.
// Pure.
import { ageText } from "../terminal/age.ts";
import { oneLine } from "../terminal/printable.ts";
import { padVisible, type Style, visibleLength } from "../terminal/style.ts";
import { wrapBehind } from "../terminal/wrap.ts";
import { autoStopPhrase } from "./auto-stop-phrase.ts";
import { selectionText } from "./default-engine.ts";
import type { EngineView } from "./engine-view.ts";
import type { Explanation } from "./explain.ts";
import { engineLoadText, type GatewayView, gatewayText } from "./gateways/gateway-view.ts";
import { drainText, type GenerationView, type PodView } from "./generation-view.ts";
import type { Notice } from "./notices.ts";
import type { InstanceView, PlatformView } from "./platform-view.ts";

interface Node {
  readonly cells: readonly string[];
  readonly notes: readonly Note[];
  readonly children: readonly Node[];
}

export interface TreeOptions {
  readonly style: Style;
  readonly nowMs: number;
  /** Names with their namespace in front. */
  readonly showNamespace: boolean;
  /** Whether pods of engines are shown. */
  readonly showPods: boolean;
  /** Columns after which lines are wrapped; undefined: never. */
  readonly width?: number | undefined;
  /** The user may not list instances: one that is not shown may exist. */
  readonly instancesUnknown?: boolean;
}

const HEADER = ["NAME", "STATE", "READY", "AGE", "DETAIL"];

/** A note below an object: a label, and a string that may need several lines. */
interface Note {
  readonly label: string;
  readonly text: string;
}

export function renderTree(view: PlatformView, options: TreeOptions): string {
  const roots = [
    ...view.instances.map((instance) => instanceNode(instance, options)),
    ...(view.strayEngines.length === 0 ? [] : [strayNode(view.strayEngines, options)]),
  ];
  return renderNodes(roots, options);
}

export function renderEngineTree(engine: EngineView, options: TreeOptions): string {
  return renderNodes(
    engine.generations.map((generation) => generationNode(generation, options)),
    options,
  );
}

function renderNodes(roots: readonly Node[], { style, width }: TreeOptions): string {
  const lines = roots.flatMap((root) => flatten(root, { first: "", rest: "" }, { style, width }));
  const rows = [
    HEADER.map((title) => style.dim(title)),
    ...lines.flatMap((line) => (line.cells === undefined ? [] : [line.cells])),
  ];
  // Gateways may have more engines than a call can have arguments.
  const widths = HEADER.map((_, column) =>
    rows.reduce((most, row) => Math.max(most, visibleLength(row[column] ?? "")), 0),
  );
  const row = (cells: readonly string[], below: string): readonly string[] => {
    const before = cells.slice(0, -1).map((cell, i) => `${padVisible(cell, widths[i] ?? 0)}${GAP}`);
    const first = before.join("");
    const rest = padVisible(below, visibleLength(first));
    return wrapBehind(cells.at(-1) ?? "", { first, rest, width });
  };
  return [
    ...row(rows[0] ?? [], ""),
    ...lines.flatMap((line) => (line.cells === undefined ? [line.note] : row(line.cells, line.below))),
  ]
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}

const GAP = "   ";

type Line =
  /** `below` is the prefix of the other lines of its last cell. */
  | { readonly cells: readonly string[]; readonly below: string; readonly note?: undefined }
  | { readonly cells?: undefined; readonly note: string };

interface Branch {
  readonly first: string;
  readonly rest: string;
}

/** The lines of a node and its children; `first` is the prefix of its own line, `rest` of the others. */
function flatten(node: Node, { first, rest }: Branch, on: Pick<TreeOptions, "style" | "width">): readonly Line[] {
  const { style, width } = on;
  const [name = "", ...cells] = node.cells.map(oneLine);
  const below = style.dim(`${rest}${node.children.length > 0 ? "│  " : "   "}`);
  const own: Line = { cells: [`${style.dim(first)}${name}`, ...cells], below };
  const notes = node.notes.flatMap((note) => noteText(note, below, width)).map((note): Line => ({ note }));
  const children = node.children.flatMap((child, index) => {
    const last = index === node.children.length - 1;
    const branch = { first: `${rest}${last ? "└─ " : "├─ "}`, rest: `${rest}${last ? "   " : "│  "}` };
    return flatten(child, branch, on);
  });
  return [own, ...notes, ...children];
}

function instanceNode(instance: InstanceView, options: TreeOptions): Node {
  const { style, nowMs } = options;
  const { components, phase } = instance;
  const ready = components.filter((component) => component.ready >= component.wanted).length;
  const paint = phase === "Ready" ? style.green : phase === "Failed" ? style.red : style.yellow;
  return {
    cells: [
      style.bold(qualified(instance, options)),
      paint(phase || "-"),
      `${ready}/${components.length}`,
      ageText(instance.createdAt, nowMs),
      [
        ...components.map(({ name, ready: is, wanted }) => `${name} ${is}/${wanted}`),
        ...selectionText(instance.selection),
      ].join(", "),
    ],
    notes: noteLines(instance.waits, style),
    children: [
      ...(instance.gateways ?? []).map((gateway) => gatewayNode(gateway, options)),
      ...instance.engines.map((engine) => engineNode(engine, { ...options, showNamespace: false })),
    ],
  };
}

/** A gateway pod, and below it the engines that it knows or serves. */
function gatewayNode(gateway: GatewayView, { style, nowMs }: TreeOptions): Node {
  const { name, phase, ready, createdAt, engines } = gateway;
  return {
    cells: [
      name,
      (ready ? style.green : style.yellow)(phase || "-"),
      ready ? "yes" : "no",
      ageText(createdAt, nowMs),
      gatewayText(gateway),
    ],
    notes: [],
    children: engines.map((engine) => ({
      cells: [engine.name, "", "", "", engineLoadText(engine)],
      notes: [],
      children: [],
    })),
  };
}

function strayNode(engines: readonly EngineView[], options: TreeOptions): Node {
  const { style, instancesUnknown = false } = options;
  const title = instancesUnknown ? "(instance unknown)" : "(no such instance)";
  return {
    cells: [style.yellow(title), "-", "-", "", ""],
    notes: [],
    children: engines.map((engine) => engineNode(engine, options)),
  };
}

function engineNode(engine: EngineView, options: TreeOptions): Node {
  const { style, nowMs } = options;
  const active = engine.generations.find(({ role }) => role === "active");
  const shown = active ?? engine.generations[0];
  const isReady = engine.ready?.status === "True";
  const paint = isReady ? style.green : engine.phase === "stopped" ? style.dim : style.yellow;
  return {
    cells: [
      style.bold(qualified(engine, options)),
      paint(engine.phase || "-"),
      `${shown?.ready ?? 0}/${engine.replicas}`,
      ageText(engine.createdAt, nowMs),
      engineDetail(engine),
    ],
    notes: noteLines(engine.waits, style),
    children: engine.generations.map((generation) => generationNode(generation, options)),
  };
}

function engineDetail(engine: EngineView): string {
  const serving = engine.generations.find(({ serves }) => serves);
  const engineClass = engine.engineClass === undefined ? [] : [`class ${engine.engineClass}`];
  const serves =
    engine.phase === "stopped"
      ? "stopped"
      : serving === undefined || serving.ready === 0
        ? "nothing serves"
        : `generation ${serving.generation} serves`;
  const autoStop = autoStopPhrase(engine.autoStopReason);
  return [serves, ...engineClass, ...(autoStop === undefined ? [] : [`auto-stop: ${autoStop}`])].join(", ");
}

function generationNode(generation: GenerationView, options: TreeOptions): Node {
  const { style, nowMs, showPods } = options;
  const { role, ready, wanted, pods } = generation;
  const paint = role === "active" ? style.green : role === "superseded" ? style.dim : style.yellow;
  return {
    cells: [
      `g${generation.generation}`,
      paint(role),
      `${ready}/${wanted}`,
      ageText(generation.createdAt, nowMs),
      role === "draining" ? drainText(generation) : "",
    ],
    notes: [],
    children: showPods ? pods.map((pod) => podNode(pod, options)) : [],
  };
}

function podNode(pod: PodView, { style, nowMs }: TreeOptions): Node {
  const { queries } = pod;
  const details = [
    pod.node === undefined ? "" : `on ${pod.node}`,
    pod.restarts > 0 ? `${pod.restarts} ${pod.restarts === 1 ? "restart" : "restarts"}` : "",
    queries === undefined
      ? ""
      : queries.type === "read"
        ? `${queries.queries} ${queries.queries === 1 ? "query" : "queries"}`
        : "queries unknown",
  ];
  const paint = pod.ready ? style.green : style.yellow;
  return {
    cells: [
      pod.name,
      paint(pod.phase || "-"),
      pod.ready ? "yes" : "no",
      ageText(pod.createdAt, nowMs),
      details.filter((text) => text !== "").join(", "),
    ],
    notes: [],
    children: [],
  };
}

/** `why` and `next` below the object. */
function noteLines(waits: Explanation | undefined, style: Style): readonly Note[] {
  if (waits === undefined) return [];
  return [{ label: style.yellow("waits:"), text: waits.why }, ...nextNote(waits.next, style)];
}

const nextNote = (next: string | undefined, style: Style): readonly Note[] =>
  next === undefined ? [] : [{ label: `${style.dim("next:")} `, text: next }];

function noteText({ label, text }: Note, before: string, width: number | undefined): readonly string[] {
  const rest = `${before}${" ".repeat(visibleLength(label) + 1)}`;
  return wrapBehind(text, { first: `${before}${label} `, rest, width });
}

/** The same without a tree, for one engine or instance. */
export function waitLines(
  waits: Explanation | undefined,
  { style, width }: Pick<TreeOptions, "style" | "width">,
): readonly string[] {
  return noteLines(waits, style).flatMap((note) => noteText(note, "", width));
}

/** Notices that concern everything below. */
export function noticeLines(
  notices: readonly Notice[],
  { style, width }: Pick<TreeOptions, "style" | "width">,
): readonly string[] {
  return notices.flatMap(({ why, next }) =>
    [{ label: style.yellow("! "), text: why }, ...nextNote(next, style)].flatMap((note) => noteText(note, "", width)),
  );
}

function qualified(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { showNamespace }: TreeOptions,
): string {
  return showNamespace ? `${namespace}/${name}` : name;
}
