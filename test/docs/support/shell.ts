// One shell for the commands of one page, as a reader would use: variables and background jobs persist. Runs a command
// and returns its output; compares nothing.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

export interface ShellAnswer {
  /** Both streams, as a terminal shows them. */
  readonly printed: string;
  readonly code: number;
}

export interface DocShell extends AsyncDisposable {
  /** What the running script has printed so far. */
  readonly printed: string;
  run(script: string, timeoutMs: number): Promise<ShellAnswer>;
}

export interface DocShellOptions {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function openDocShell({ folder, env }: DocShellOptions): DocShell {
  // A separate process group: at the end all processes that a page left running are terminated.
  const shell = spawn("bash", ["--noprofile", "--norc"], {
    cwd: folder,
    env: { ...env },
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const output = readerOf(shell);
  return {
    get printed() {
      return output.text;
    },
    async run(script, timeoutMs) {
      const mark = `--${randomBytes(8).toString("hex")}--`;
      // Braces, not a subshell: what the script sets is there for the next one. Its input is empty, or it would read our commands.
      shell.stdin.write(`{ ${script}\n} 2>&1 </dev/null\nprintf '\\n%s %s\\n' '${mark}' "$?"\n`);
      const text = await output.until(new RegExp(`\\n${mark} (\\d+)\\n$`), { script, timeoutMs });
      const end = text.lastIndexOf(`\n${mark} `);
      return { printed: text.slice(0, end), code: Number(text.slice(end + mark.length + 2)) };
    },
    async [Symbol.asyncDispose]() {
      if (shell.exitCode !== null || shell.signalCode !== null || shell.pid === undefined) return;
      const gone = once(shell, "close");
      process.kill(-shell.pid, "SIGKILL");
      await gone;
    },
  };
}

interface Waiting {
  readonly script: string;
  readonly timeoutMs: number;
}

function readerOf(shell: ChildProcessByStdio<Writable, Readable, null>) {
  let text = "";
  let look = (): void => undefined;
  shell.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    look();
  });
  shell.once("close", () => look());
  return {
    get text() {
      return text;
    },
    async until(pattern: RegExp, { script, timeoutMs }: Waiting): Promise<string> {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const giveUp = (why: string): void => reject(new Error(`${why}: ${script}\n${text}`));
      const timer = setTimeout(() => giveUp(`not done after ${timeoutMs / 1000} s`), timeoutMs);
      look = () => {
        if (pattern.test(text)) resolve(text);
        else if (shell.exitCode !== null || shell.signalCode !== null) giveUp("the shell ended");
      };
      look();
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        look = () => undefined;
        text = "";
      }
    },
  };
}
