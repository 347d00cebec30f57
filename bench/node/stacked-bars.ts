// Draws ways as stacked bars, one bar per way, as an SVG that is readable on light and dark pages. Pure.
import { MOMENTS, type Moment, type Part } from "./parts.ts";

export interface Bar {
  readonly name: string;
  readonly parts: readonly Part[];
}

const WIDTH = 960;
const LEFT = 150;
const RIGHT = 70;
const TOP = 64;
const BAR = 34;
const GAP = 22;
const LEGEND_LINE = 24;
const LEGEND_COLUMNS = 3;
/** A part narrower than this has no room for its number. */
const NUMBER_PX = 40;

/** By who is busy: the gateway, the operator, Kubernetes, the engine. Light page, dark page. */
const COLOURS: Readonly<Record<Moment, readonly [light: string, dark: string]>> = {
  requested: ["#8250df", "#a371f7"],
  statefulSet: ["#0969da", "#4493f8"],
  pod: ["#afb8c1", "#6e7681"],
  scheduled: ["#8c959f", "#8b949e"],
  process: ["#bf8700", "#9e6a03"],
  listening: ["#1a7f37", "#3fb950"],
  started: ["#d4a72c", "#bb8009"],
  ready: ["#eac54f", "#d29922"],
  switched: ["#218bff", "#388bfd"],
  endpoint: ["#6e7781", "#b1bac4"],
  answered: ["#a475f9", "#bc8cff"],
  settled: ["#54aeff", "#79c0ff"],
};

export function renderStackedBars(title: string, bars: readonly Bar[]): string {
  const totals = bars.map(({ parts }) => parts.reduce((sum, { ms }) => sum + ms, 0));
  const longestMs = Math.max(...totals, 1);
  const scale = (WIDTH - LEFT - RIGHT) / longestMs;
  const used = (Object.keys(MOMENTS) as Moment[]).filter((moment) =>
    bars.some(({ parts }) => parts.some((part) => part.moment === moment)),
  );
  const barsBottom = TOP + bars.length * (BAR + GAP);
  const height = barsBottom + Math.ceil(used.length / LEGEND_COLUMNS) * LEGEND_LINE + 24;
  const description = bars
    .map(
      ({ name, parts }, index) =>
        `${name}: ${seconds(totals[index] ?? 0)}, of which ${parts.map((part) => `${MOMENTS[part.moment]} ${seconds(part.ms)}`).join(", ")}`,
    )
    .join(". ");
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title desc" font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif">`,
    `  <title id="title">${xmlText(title)}</title>`,
    `  <desc id="desc">${xmlText(description)}</desc>`,
    renderStyle(used),
    `  <rect class="ground" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="10"/>`,
    `  <text class="strong" x="24" y="36">${xmlText(title)}</text>`,
    ...bars.map((bar, index) => renderBar(bar, { top: TOP + index * (BAR + GAP), scale, totalMs: totals[index] ?? 0 })),
    ...used.map((moment, index) => renderLegend(moment, index, barsBottom + 12)),
    "</svg>",
    "",
  ].join("\n");
}

function renderStyle(used: readonly Moment[]): string {
  const fill = (index: 0 | 1) => used.map((moment) => `.${moment} { fill: ${COLOURS[moment][index]}; }`).join(" ");
  return [
    "  <style>",
    "    .ground { fill: #ffffff; stroke: #d0d7de; }",
    "    text { fill: #1f2328; font-size: 13px; }",
    "    .strong { font-weight: 600; font-size: 15px; }",
    "    .end { text-anchor: end; } .middle { text-anchor: middle; fill: #ffffff; }",
    `    ${fill(0)}`,
    "    @media (prefers-color-scheme: dark) {",
    "      .ground { fill: #0d1117; stroke: #30363d; }",
    "      text { fill: #f0f6fc; } .middle { fill: #0d1117; }",
    `      ${fill(1)}`,
    "    }",
    "  </style>",
  ].join("\n");
}

interface Placement {
  readonly top: number;
  readonly scale: number;
  readonly totalMs: number;
}

function renderBar({ name, parts }: Bar, { top, scale, totalMs }: Placement): string {
  const middle = top + BAR / 2 + 5;
  let left = LEFT;
  const pieces = parts.map(({ moment, ms }) => {
    const width = ms * scale;
    const box = `<rect class="${moment}" x="${px(left)}" y="${top}" width="${px(width)}" height="${BAR}"/>`;
    const number =
      width < NUMBER_PX ? "" : `<text class="middle" x="${px(left + width / 2)}" y="${middle}">${seconds(ms)}</text>`;
    left += width;
    return `${box}${number}`;
  });
  return [
    `  <text class="end" x="${LEFT - 12}" y="${middle}">${xmlText(name)}</text>`,
    `  ${pieces.join("\n  ")}`,
    `  <text x="${px(left + 8)}" y="${middle}">${seconds(totalMs)}</text>`,
  ].join("\n");
}

function renderLegend(moment: Moment, index: number, top: number): string {
  const left = 24 + (index % LEGEND_COLUMNS) * ((WIDTH - 48) / LEGEND_COLUMNS);
  const y = top + Math.floor(index / LEGEND_COLUMNS) * LEGEND_LINE;
  return `  <rect class="${moment}" x="${px(left)}" y="${y}" width="14" height="14" rx="3"/><text x="${px(left + 22)}" y="${y + 12}">${xmlText(MOMENTS[moment])}</text>`;
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
const px = (value: number): string => String(Number(value.toFixed(1)));
const xmlText = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
