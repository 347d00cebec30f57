// Reads the kubeconfig. One that cannot be used is an error that names the file, the problem and the next step. Shows
// nothing of the file's content, which holds credentials.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { KubeConfigError } from "@firebolt-operator/kube";
import { type ClusterConfig, loadKubeconfig, type ReadFile } from "@firebolt-operator/kube/client";
import { plainText } from "../../api/values/plain-text.ts";
import { isObject } from "../../podtemplate/shapes/shape.ts";
import { CommandError } from "../command-line/exit-codes.ts";

export interface KubeconfigSource {
  /** Of `--kubeconfig`; empty without. */
  readonly path: string;
  /** Of `--context`; empty without. */
  readonly context: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readFile?: ReadFile;
}

export async function openKubeconfig(source: KubeconfigSource): Promise<ClusterConfig> {
  const { path, context, env, readFile = (file) => readFileSync(file, "utf8") } = source;
  try {
    return await loadKubeconfig({
      path: path || undefined,
      context: context || undefined,
      env,
      homeDir: homedir(),
      readFile: (file) => readPlainly(file, readFile),
    });
  } catch (error) {
    if (!(error instanceof KubeConfigError)) throw error;
    // A path, and the words of another program, may hold line breaks.
    throw new CommandError(plainText([shown(error), ...wayOut(error, path, env)].join("; ")));
  }
}

/** Keeps the error code: a file that is listed in KUBECONFIG may be missing. */
function readPlainly(path: string, readFile: ReadFile): string {
  try {
    return readFile(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
    const cause = CAUSES[code ?? ""];
    if (cause === undefined) throw error;
    throw Object.assign(new Error(cause, { cause: error }), { code });
  }
}

const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file: a part of its path is not a folder",
  EISDIR: "it is a folder",
  EACCES: "you have no permission to read it (see its mode and that of its folders)",
  EPERM: "you have no permission to read it",
  ELOOP: "it is a symbolic link to itself",
};

/** A file that was read but is no kubeconfig at all; a parser's cause knows where. */
function shown({ safeMessage, cause, isUnusable }: KubeConfigError): string {
  return isUnusable && cause !== undefined ? `${safeMessage}: ${placeOf(cause)}` : safeMessage;
}

/** An unresolved alias is reported after parsing, without a position. */
function placeOf(cause: unknown): string {
  if (!(cause instanceof Error && "linePos" in cause && Array.isArray(cause.linePos))) return "it cannot be parsed";
  const [start]: readonly unknown[] = cause.linePos;
  return isObject(start) ? `line ${start["line"]}, column ${start["col"]} cannot be parsed` : "it cannot be parsed";
}

/** For a file that cannot be read, is not YAML or has no cluster. Other messages name what to change in it. */
function wayOut(error: KubeConfigError, path: string, env: KubeconfigSource["env"]): readonly string[] {
  const { cause, isUnusable } = error;
  const isUnread = cause instanceof Error && "code" in cause && !isUnusable;
  if (isUnread && path !== "") return ["correct --kubeconfig, or leave it out to use KUBECONFIG or ~/.kube/config"];
  if (isUnread && (env["KUBECONFIG"] ?? "") !== "")
    return ["correct or unset KUBECONFIG, or name another file with --kubeconfig"];
  if (isUnread) return ["make it readable, or name another file with --kubeconfig"];
  // Without a code it is not the path that is wrong, but what is there.
  return isUnusable || cause !== undefined ? ["correct the file, or name another one with --kubeconfig"] : [];
}
