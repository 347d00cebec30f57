// A block of text that is drawn again in place. Where nobody watches, every new state is printed below the last one instead.
import { control } from "./printable.ts";
import { cutVisible } from "./style.ts";
import type { Terminal } from "./terminal.ts";

const HIDE_CURSOR = control("[?25l");
const SHOW_CURSOR = control("[?25h");
const LINE_START = control("[G");
const CLEAR_BELOW = control("[J");

export interface LiveScreen extends Disposable {
  /** `same` is what makes two states equal, when it is not the text itself: ages pass without anything happening. */
  show(text: string, same?: string): void;
}

export function createLiveScreen(terminal: Pick<Terminal, "interactive" | "rows" | "columns" | "out">): LiveScreen {
  return terminal.interactive ? redrawn(terminal) : appended(terminal);
}

function redrawn({ out, rows, columns }: Pick<Terminal, "rows" | "columns" | "out">): LiveScreen {
  let drawn = 0;
  out(HIDE_CURSOR);
  return {
    show(text) {
      // What has scrolled out of sight cannot be drawn again, so only as much as fits is drawn.
      const lines = text
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => cutVisible(line, columns));
      const cut =
        lines.length < rows ? lines : [...lines.slice(0, rows - 2), `… ${lines.length - rows + 2} more lines`];
      const up = drawn === 0 ? "" : control(`[${drawn}A`);
      out(`${up}${LINE_START}${CLEAR_BELOW}${cut.join("\n")}\n`);
      drawn = cut.length;
    },
    [Symbol.dispose]: () => out(SHOW_CURSOR),
  };
}

function appended({ out }: Pick<Terminal, "out">): LiveScreen {
  let last: string | undefined;
  return {
    show(text, same = text) {
      if (same === last) return;
      // Blocks are set apart; a line after a line is a log.
      const isBlock = text.trimEnd().includes("\n");
      out(last !== undefined && isBlock ? `\n${text}` : text);
      last = same;
    },
    [Symbol.dispose]: () => undefined,
  };
}
