// Runs a credential plugin: a child process with a deadline whose stdout is the result and whose stderr explains
// failures. Does not interpret the output and never logs it: it is a secret.
import { spawn } from "node:child_process";
import { CredentialsError } from "../core/errors.ts";

export interface ProcessRequest {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to this process's own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Inherits the terminal's stdin and forwards stderr as it arrives. */
  readonly interactive: boolean;
  readonly timeoutMs: number;
  readonly installHint: string | undefined;
}

export type RunProcess = (request: ProcessRequest) => Promise<string>;

const MAX_STDOUT_BYTES = 1024 * 1024;
const SHOWN_STDERR_CHARACTERS = 2000;

export const runProcess: RunProcess = (request) =>
  new Promise((resolve, reject) => {
    const { command, args, env, interactive, timeoutMs } = request;
    const child = spawn(command, [...args], {
      env: { ...process.env, ...env },
      stdio: [interactive ? "inherit" : "ignore", "pipe", "pipe"],
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    });
    const stdout: Buffer[] = [];
    let stdoutBytes = 0;
    let stderr = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      stdoutBytes += chunk.length;
      if (stdoutBytes <= MAX_STDOUT_BYTES) stdout.push(chunk);
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      stderr = (stderr + chunk.toString("utf8")).slice(-SHOWN_STDERR_CHARACTERS);
      if (interactive) process.stderr.write(chunk);
    });
    child.on("error", (cause: NodeJS.ErrnoException) => reject(failedToStart(request, cause)));
    child.on("close", (code, signal) => {
      if (code === 0 && stdoutBytes <= MAX_STDOUT_BYTES) resolve(Buffer.concat(stdout).toString("utf8"));
      else reject(failed(request, { code, signal, stderr, tooLarge: stdoutBytes > MAX_STDOUT_BYTES }));
    });
  });

function failedToStart(request: ProcessRequest, cause: NodeJS.ErrnoException): CredentialsError {
  const hint = request.installHint === undefined ? "" : `\n${request.installHint.trim()}`;
  const why = cause.code === "ENOENT" ? "was not found: install it or correct the kubeconfig" : cause.message;
  return new CredentialsError(`credential plugin ${request.command} ${why}${hint}`, { cause });
}

interface Failure {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
  readonly tooLarge: boolean;
}

function failed(request: ProcessRequest, failure: Failure): CredentialsError {
  const how = failure.tooLarge
    ? `printed more than ${MAX_STDOUT_BYTES} bytes`
    : failure.signal === null
      ? `exited with code ${failure.code}`
      : `was terminated by ${failure.signal} (timeout ${request.timeoutMs / 1000} s)`;
  const said = failure.stderr.trim();
  return new CredentialsError(`credential plugin ${request.command} ${how}${said === "" ? "" : `: ${said}`}`);
}
