// JSON requests to the control plane's own servers: enough for readiness, tokens, manifests, nodes and tests of the
// control plane itself. Not the client of the runtime: no retries, no watches, no rotation.
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { parse } from "yaml";

const DEADLINE_MS = 60_000;

export interface Credentials {
  readonly url: string;
  readonly ca: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly token?: string;
}

/** One request; GET by default. */
export interface ApiRequest {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
  /** `text` returns the body unparsed, e.g. the lines of a watch. Default `json`. */
  readonly as?: "json" | "text";
  readonly signal?: AbortSignal;
}

/** A response with any status. */
export interface ApiResponse {
  readonly status: number;
  /** The parsed body, or the raw string if it is not JSON. */
  readonly body: unknown;
}

/** Single JSON requests: no retries, no watches. */
export interface Api {
  /** Sends a request; resolves for every HTTP status. */
  send(request: ApiRequest): Promise<ApiResponse>;
  /** Sends a request and fails unless the status is 2xx or one of `accept`. */
  expect(request: ApiRequest, accept?: readonly number[]): Promise<ApiResponse>;
  close(): void;
}

/** Opens the API at an address, with these credentials. */
export function openApi(credentials: Credentials): Api {
  const agent = new Agent({
    keepAlive: true,
    ca: credentials.ca,
    ...(credentials.certificate === undefined ? {} : { cert: credentials.certificate }),
    ...(credentials.key === undefined ? {} : { key: credentials.key }),
  });
  const authorization: Record<string, string> =
    credentials.token === undefined ? {} : { authorization: `Bearer ${credentials.token}` };
  const send = (what: ApiRequest): Promise<ApiResponse> =>
    sendRequest({ agent, url: new URL(what.path, credentials.url), headers: authorization, what });
  return {
    send,
    async expect(what, accept = []) {
      const response = await send(what);
      if ((response.status >= 200 && response.status < 300) || accept.includes(response.status)) return response;
      const verb = `${what.method ?? "GET"} ${what.path}`;
      throw new Error(`${verb} returned ${response.status}: ${messageOf(response.body)}`);
    },
    close: () => agent.destroy(),
  };
}

/**
 * Opens the API with the first cluster and user of a kubeconfig that a control plane wrote, optionally at another
 * address.
 */
export function openApiFromKubeconfig(path: string, otherUrl?: string): Api {
  const config: unknown = parse(readFileSync(path, "utf8"));
  const cluster = valueAt(config, ["clusters", 0, "cluster"]);
  const user = valueAt(config, ["users", 0, "user"]);
  const url = otherUrl ?? stringAt(cluster, "server", path);
  const ca = decode(stringAt(cluster, "certificate-authority-data", path));
  const token = valueAt(user, ["token"]);
  if (typeof token === "string") return openApi({ url, ca, token });
  const certificate = decode(stringAt(user, "client-certificate-data", path));
  return openApi({ url, ca, certificate, key: decode(stringAt(user, "client-key-data", path)) });
}

const decode = (base64: string): string => Buffer.from(base64, "base64").toString("utf8");

/** The value below these keys; undefined where the path ends early. */
export function valueAt(root: unknown, keys: readonly (string | number)[]): unknown {
  let value = root;
  for (const key of keys) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

function stringAt(root: unknown, key: string, source: string): string {
  const value = valueAt(root, [key]);
  if (typeof value !== "string") throw new Error(`${source} has no ${key}`);
  return value;
}

function messageOf(body: unknown): string {
  const message = valueAt(body, ["message"]);
  return typeof message === "string" ? message : JSON.stringify(body);
}

interface Exchange {
  readonly agent: Agent;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly what: ApiRequest;
}

function sendRequest({ agent, url, headers, what }: Exchange): Promise<ApiResponse> {
  const payload = what.body === undefined ? undefined : JSON.stringify(what.body);
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const contentType = { "content-type": what.contentType ?? "application/json" };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      agent,
      method: what.method ?? "GET",
      signal: what.signal === undefined ? deadline : AbortSignal.any([deadline, what.signal]),
      headers: { ...headers, ...(payload === undefined ? {} : contentType) },
    });
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.once("error", reject);
      incoming.once("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const isJson = what.as !== "text" && incoming.headers["content-type"]?.startsWith("application/json") === true;
        resolve({ status: incoming.statusCode ?? 0, body: isJson ? JSON.parse(text) : text });
      });
    });
    outgoing.end(payload);
  });
}
