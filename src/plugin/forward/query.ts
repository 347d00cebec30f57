// `engine query <engine> "SELECT 42"`: sends one statement to the gateway through a temporary port forward.
import { request } from "node:http";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { ENGINE_HEADER } from "../../api/wake-protocol.ts";
import { gatewayName } from "../../instance/model/names.ts";
import { isObject } from "../../podtemplate/shapes/shape.ts";
import { limitMs, startDeadline } from "../cluster/deadline.ts";
import { requireObject } from "../cluster/find-object.ts";
import { commandsText, kubectlArgs } from "../cluster/kubectl.ts";
import { CommandError, EXIT, type ExitCode } from "../command-line/exit-codes.ts";
import type { CommandContext, Run } from "../commands/command.ts";
import { ownCommand } from "../own-command.ts";
import { openForwarding } from "./forwarding.ts";
import { forwardArgs, GATEWAY_SERVICE_PORT } from "./port-forward.ts";
import { gatewayScheme } from "./scheme.ts";

/** Envoy adds it to responses of engines. */
const ENGINE_TIME_HEADER = "x-envoy-upstream-service-time";
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** A script cannot find out which port kubectl picked. */
const SCRIPT_PORT = 8080;

export const queryEngine: Run = async (context) => {
  const { args, flags, terminal, env, signal } = context;
  const [name = "", statement = ""] = args;
  using cluster = await context.connect();
  const engine = await requireObject(cluster, FireboltEngine, name);
  const instance = await requireObject(cluster, FireboltInstance, engine.spec?.instanceRef ?? "");
  const service = gatewayName(engine.spec?.instanceRef ?? "");
  if (gatewayScheme(instance) !== "http")
    throw new CommandError(
      `the gateway uses TLS: use a client that trusts its certificate, over: ${ownCommand(cluster, ["instance", "port-forward", engine.spec?.instanceRef ?? ""])}`,
    );
  if (flags.on("print-commands")) return printQuery(context, service, { engine: name, statement });
  await using forwarding = await openForwarding({
    args: forwardArgs(context, service, GATEWAY_SERVICE_PORT),
    env,
    signal,
  });
  using deadline = startDeadline(signal, limitMs(flags.durationMs("timeout")));
  const query = { port: forwarding.port, engine: name, statement, signal: deadline.signal };
  const result = await post(query).catch((error: unknown) => {
    if (!deadline.passed) throw error;
    throw new CommandError("the query timed out: use --timeout to allow more time", EXIT.notYet);
  });
  const failure = failureOf(name, result);
  if (failure !== undefined) throw failure;
  terminal.raw(result.body.endsWith("\n") ? result.body : `${result.body}\n`);
  return EXIT.ok;
};

/**
 * Whether the statement failed or the engine could not run it: scripts correct the one and retry the other. Undefined:
 * a result. A response that the gateway generates itself has no service time of an engine.
 */
export function failureOf(engine: string, { status, body, isFromEngine }: GatewayResponse): CommandError | undefined {
  const text = body.trim();
  // A statement that fails after its response has begun still has status 200.
  const isResult = status >= 200 && status < 300;
  if (isResult && !hasErrors(text)) return undefined;
  // 429 and 503 of an engine mean load and shutdown; the statement was not judged.
  if (isResult || (isFromEngine && status !== 429 && status !== 503))
    return new CommandError(
      `engine ${JSON.stringify(engine)} rejected the statement (${status}): ${text}`,
      EXIT.sqlRefused,
    );
  return new CommandError(`the gateway responded with ${status}: ${text}`);
}

/** Results in other formats than JSON, and JSON that is not an object, carry no errors. */
function hasErrors(text: string): boolean {
  if (!text.startsWith("{") || !text.includes('"errors"')) return false;
  try {
    const result: unknown = JSON.parse(text);
    return isObject(result) && Array.isArray(result["errors"]) && result["errors"].length > 0;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

interface GatewayResponse {
  readonly status: number;
  readonly body: string;
  /** Otherwise the gateway responded by itself. */
  readonly isFromEngine: boolean;
}

interface Query {
  readonly port: number;
  readonly engine: string;
  readonly statement: string;
  readonly signal: AbortSignal;
}

function post({ port, engine, statement, signal }: Query): Promise<GatewayResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<GatewayResponse>();
  const headers = { [ENGINE_HEADER]: engine, "content-type": "text/plain; charset=utf-8" };
  const call = request(
    { host: "127.0.0.1", port, method: "POST", path: "/", headers, agent: false, signal },
    (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= MAX_ANSWER_BYTES) chunks.push(chunk);
        else call.destroy(new CommandError(`the response is larger than ${MAX_ANSWER_BYTES} bytes`));
      });
      response.once("error", reject);
      response.once("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          body: Buffer.concat(chunks).toString("utf8"),
          isFromEngine: response.headers[ENGINE_TIME_HEADER] !== undefined,
        }),
      );
    },
  );
  call.once("error", reject);
  call.end(statement);
  return promise;
}

/** A query must not be retried, so a health check is retried until the port is open. */
function printQuery(
  context: CommandContext,
  service: string,
  { engine, statement }: Pick<Query, "engine" | "statement">,
): ExitCode {
  const { flags, terminal } = context;
  const port = flags.integer("local-port") || SCRIPT_PORT;
  const url = `http://localhost:${port}/`;
  // For curl, 0 is no limit as well.
  const seconds = Math.ceil((flags.durationMs("timeout") ?? 0) / 1_000);
  terminal.out(
    commandsText([
      {
        comment: "forward a local port to the gateway",
        args: kubectlArgs(flags, "port-forward", `svc/${service}`, `${port}:${GATEWAY_SERVICE_PORT}`),
        background: true,
      },
      {
        program: "curl",
        comment: "wait until the port is open",
        args: ["-sS", "-o", "/dev/null", "--retry", "15", "--retry-delay", "1", "--retry-connrefused", `${url}healthz`],
      },
      {
        program: "curl",
        comment: "the query",
        args: [
          ...["-sS", "--fail-with-body", "--max-time", String(seconds)],
          ...["-H", `${ENGINE_HEADER}: ${engine}`, "--data-binary", statement, url],
        ],
      },
    ]),
  );
  return EXIT.ok;
}
