// A progress bar. Pure.
import type { Style } from "./style.ts";

export interface BarOptions {
  readonly style: Style;
  readonly width?: number;
  /** Drawn as done, stuck or moving. */
  readonly state: "done" | "stuck" | "moving";
}

/** `███████░░░  70%` */
export function renderBar(share: number, { style, width = 24, state }: BarOptions): string {
  const clamped = Math.min(1, Math.max(0, share));
  const full = Math.floor(clamped * width);
  const paint = state === "done" ? style.green : state === "stuck" ? style.yellow : style.cyan;
  const percent = `${Math.floor(clamped * 100)}%`.padStart(4);
  return `${paint("█".repeat(full))}${style.dim("░".repeat(width - full))} ${percent}`;
}
