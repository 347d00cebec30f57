// A block of lines that is redrawn in place. Without a terminal every new state is printed below the last one.
import { control } from "./printable.ts";
import { cutVisible } from "./style.ts";
import type { Terminal } from "./terminal.ts";

const HIDE_CURSOR = control("[?25l");
const SHOW_CURSOR = control("[?25h");
const LINE_START = control("[G");
const CLEAR_BELOW = control("[J");

export interface LiveScreen extends Disposable {
  /**
   * States with an equal `same` are not printed twice without a terminal: ages change all the time. Default: the
   * output itself.
   */
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
      // Lines that have scrolled out of view cannot be redrawn, so only as many as fit are drawn.
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
      // Blocks are separated by an empty line; single lines are not.
      const isBlock = text.trimEnd().includes("\n");
      out(last !== undefined && isBlock ? `\n${text}` : text);
      last = same;
    },
    [Symbol.dispose]: () => undefined,
  };
}
