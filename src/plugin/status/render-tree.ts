// The status tree as text: one aligned line per thing, and under whatever waits a line that says why. Pure.
import { ageText } from "../terminal/age.ts";
import { padVisible, type Style, visibleLength } from "../terminal/style.ts";
import type { EngineView } from "./engine-view.ts";
import type { Explanation } from "./explain.ts";
import { drainText, type GenerationView, type PodView } from "./generation-view.ts";
import type { InstanceView, PlatformView } from "./platform-view.ts";

interface Node {
  readonly cells: readonly string[];
  readonly notes: readonly string[];
  readonly children: readonly Node[];
}

export interface TreeOptions {
  readonly style: Style;
  readonly nowMs: number;
  /** Names with their namespace in front. */
  readonly showNamespace: boolean;
  /** Whether pods are shown. */
  readonly showPods: boolean;
}

const HEADER = ["NAME", "STATE", "READY", "AGE", "DETAIL"];

export function renderTree(view: PlatformView, options: TreeOptions): string {
  const roots = [
    ...view.instances.map((instance) => instanceNode(instance, options)),
    ...(view.strayEngines.length === 0 ? [] : [strayNode(view.strayEngines, options)]),
  ];
  return renderNodes(roots, options.style);
}

export function renderEngineTree(engine: EngineView, options: TreeOptions): string {
  return renderNodes(
    engine.generations.map((generation) => generationNode(generation, options)),
    options.style,
  );
}

function renderNodes(roots: readonly Node[], style: Style): string {
  const lines = roots.flatMap((root) => flatten(root, { first: "", rest: "" }, style));
  const rows = [
    HEADER.map((title) => style.dim(title)),
    ...lines.flatMap((line) => (line.cells === undefined ? [] : [line.cells])),
  ];
  const widths = HEADER.map((_, column) => Math.max(...rows.map((row) => visibleLength(row[column] ?? ""))));
  const text = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (i === cells.length - 1 ? cell : padVisible(cell, widths[i] ?? 0)))
      .join("   ")
      .trimEnd();
  return [text(rows[0] ?? []), ...lines.map((line) => (line.cells === undefined ? line.note : text(line.cells)))]
    .map((line) => `${line}\n`)
    .join("");
}

type Line =
  | { readonly cells: readonly string[]; readonly note?: undefined }
  | { readonly cells?: undefined; readonly note: string };

interface Branch {
  readonly first: string;
  readonly rest: string;
}

/** The lines of a node and of what is below it; `first` stands before its own line, `rest` before the others. */
function flatten(node: Node, { first, rest }: Branch, style: Style): readonly Line[] {
  const [name = "", ...cells] = node.cells;
  const own: Line = { cells: [`${style.dim(first)}${name}`, ...cells] };
  const below = node.children.length > 0 ? "│  " : "   ";
  const notes = node.notes.map((note): Line => ({ note: `${style.dim(`${rest}${below}`)}${note}` }));
  const children = node.children.flatMap((child, index) => {
    const last = index === node.children.length - 1;
    const branch = { first: `${rest}${last ? "└─ " : "├─ "}`, rest: `${rest}${last ? "   " : "│  "}` };
    return flatten(child, branch, style);
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
      components.map(({ name, ready: is, wanted }) => `${name} ${is}/${wanted}`).join(", "),
    ],
    notes: noteLines(instance.waits, style),
    children: instance.engines.map((engine) => engineNode(engine, { ...options, showNamespace: false })),
  };
}

function strayNode(engines: readonly EngineView[], options: TreeOptions): Node {
  const { style } = options;
  return {
    cells: [style.yellow("(no such instance)"), "-", "-", "", ""],
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
  const autoStop =
    engine.autoStopReason === undefined || engine.autoStopReason === "Disabled"
      ? []
      : [`auto-stop: ${engine.autoStopReason}`];
  const engineClass = engine.engineClass === undefined ? [] : [`class ${engine.engineClass}`];
  const serves =
    engine.phase === "stopped"
      ? "stopped"
      : serving === undefined || serving.ready === 0
        ? "nothing serves"
        : `generation ${serving.generation} serves`;
  return [serves, ...engineClass, ...autoStop].join(", ");
}

function generationNode(generation: GenerationView, options: TreeOptions): Node {
  const { style, nowMs, showPods } = options;
  const { role, ready, wanted, pods } = generation;
  const paint = role === "active" ? style.green : role === "leftover" ? style.dim : style.yellow;
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
        : "queries not known",
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

/** `why` and `next` under the thing they are about. */
export function noteLines(waits: Explanation | undefined, style: Style): readonly string[] {
  if (waits === undefined) return [];
  const next = waits.next === undefined ? [] : [`${style.dim("next:")}  ${waits.next}`];
  return [`${style.yellow("waits:")} ${waits.why}`, ...next];
}

function qualified(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { showNamespace }: TreeOptions,
): string {
  return showNamespace ? `${namespace}/${name}` : name;
}
