// The client of the API server: verbs over resource types, built from a ClusterConfig. Every accepted write is told to
// listeners before the call returns. It holds no state about objects and opens no connection before the first call.
import type { ClusterConfig } from "../config/cluster-config.ts";
import { createCredentials } from "../config/credentials.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { isNotFound, KubeConnectionError, KubeTimeoutError } from "../core/errors.ts";
import { type Logger, silentLogger } from "../core/logger.ts";
import { type KubeList, type KubeObject, keyOf, type ObjectKey } from "../core/object.ts";
import { type ResourceType, resourceText } from "../core/resource.ts";
import { type ApiAnswer, decodeJson, decodeList, decodeObject, parseStatus, refusedError } from "./api-answer.ts";
import { type Call, ClientCalls, type RequestInfo, requestText } from "./calls.ts";
import type {
  AcceptedWrite,
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  DeleteResult,
  KubeClient,
  ListOptions,
  LogOptions,
  LogRequest,
  Patch,
  ProxyRequest,
  RawRequest,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./client.ts";
import { endedByDelete, endedByUpdate } from "./deletion.ts";
import { logLines } from "./log-lines.ts";
import { listAllPages } from "./pages.ts";
import {
  deleteCall,
  getCall,
  listCall,
  logCall,
  patchCall,
  proxyCall,
  rawCall,
  watchCall,
  writeCall,
} from "./requests.ts";
import { TokenBucket } from "./token-bucket.ts";
import { parseServer, TransportAgents } from "./transport/agents.ts";
import { Transport } from "./transport/transport.ts";
import { watchEvents } from "./watch.ts";

export interface KubeClientOptions {
  readonly config: ClusterConfig;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly userAgent?: string;
  /** Told of every exchange, retries included: feeds rest_client_requests_total. */
  readonly onRequest?: (info: RequestInfo) => void;
  /** Called just before a write leaves, retries included; may throw NotLeaderError. */
  readonly guardWrite?: () => void;
  /** Requests per second and how many at once; 0 means no limit. */
  readonly qps?: number;
  readonly burst?: number;
  /** Connections for calls; watches have their own. Default 32. */
  readonly maxSockets?: number;
  /** Longest answer, and longest event of a watch, to hold in memory. Default 128 MiB. */
  readonly maxResponseBytes?: number;
}

const DEFAULT_MAX_SOCKETS = 32;
const DEFAULT_OPEN_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_RESPONSE_BYTES = 128 * 1024 * 1024;

/** A client for one cluster. It opens no connection before the first call. */
export function createKubeClient(options: KubeClientOptions): KubeClient {
  const { config, clock = systemClock, logger = silentLogger, qps = 0, burst = 0 } = options;
  const maxBytes = options.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES;
  const server = parseServer(config);
  const maxSockets = options.maxSockets ?? DEFAULT_MAX_SOCKETS;
  const agents = new TransportAgents({ config, server, logger, maxSockets });
  const calls = new ClientCalls({
    transport: new Transport(server, agents),
    credentials: createCredentials({ config, clock, logger }),
    clock,
    host: server.authority,
    userAgent: options.userAgent ?? "kube-client",
    impersonate: config.impersonate,
    bucket: qps > 0 ? new TokenBucket({ clock, qps, burst }) : undefined,
    guardWrite: options.guardWrite,
    onRequest: options.onRequest,
    maxBytes,
    random: Math.random,
  });
  return new HttpKubeClient({ calls, agents, clock, logger, maxBytes });
}

interface Parts {
  readonly calls: ClientCalls;
  readonly agents: TransportAgents;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly maxBytes: number;
}

class HttpKubeClient implements KubeClient {
  readonly #parts: Parts;
  readonly #listeners = new Set<(write: AcceptedWrite) => void>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async get<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, options: CallOptions = {}): Promise<T> {
    const call = getCall(type, key);
    return decodeObject(await this.#json(call, options), type, requestText(call));
  }

  async find<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, options?: CallOptions) {
    try {
      return await this.get(type, key, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async list<T extends KubeObject>(type: ResourceType<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    const call = listCall(type, options);
    return decodeList(await this.#json(call, options), type, requestText(call));
  }

  listAll<T extends KubeObject>(type: ResourceType<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    return listAllPages((page) => this.list(type, page), options, this.#parts.clock);
  }

  async *watch<T extends KubeObject>(type: ResourceType<T>, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const { clock, maxBytes } = this.#parts;
    const { signal, idleTimeoutMs, initialIdleTimeoutMs = idleTimeoutMs } = options;
    const call = watchCall(type, options);
    const request = requestText(call);
    const opened = await this.#open(call, options);
    if (opened.status !== 200) throw refusedError(request, opened, clock.now());
    yield* watchEvents({
      response: opened.response,
      type,
      signal,
      idleTimeoutMs,
      initialIdleTimeoutMs,
      maxLineBytes: maxBytes,
      clock,
      request,
      initialEvents: options.sendInitialEvents === true,
      isKnown: options.isKnown,
    });
  }

  create<T extends KubeObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#write(type, writeCall("create", type, { object, options }), options);
  }

  replace<T extends KubeObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#write(type, writeCall("update", type, { object, options }), options);
  }

  patch<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.#write(type, patchCall(type, key, { patch, options }), options);
  }

  apply<T extends KubeObject>(type: ResourceType<T>, object: T, options: ApplyOptions): Promise<T> {
    return this.#write(type, writeCall("apply", type, { object, options }), options);
  }

  async delete<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<DeleteResult<T>> {
    const call = deleteCall(type, key, options);
    const answer = await this.#send(call, options);
    const status = parseStatus(answer.body);
    if (status !== undefined) return this.#gone({ type, key, options, uid: status.details?.uid });
    const object = decodeObject(decodeJson(answer.body, requestText(call)), type, requestText(call));
    if (endedByDelete(object)) return this.#gone({ type, key, options, uid: object.metadata?.uid });
    if (!options.dryRun) this.#tell({ type: "written", resource: type, object });
    return { type: "terminating", object };
  }

  async podProxyGet(request: ProxyRequest): Promise<{ readonly status: number; readonly body: string }> {
    const call = proxyCall(request);
    const answer = await this.#parts.calls.send(call, request);
    if (answer.status >= 400 && parseStatus(answer.body) !== undefined)
      throw refusedError(requestText(call), answer, this.#parts.clock.now());
    return { status: answer.status, body: answer.body };
  }

  async *podLogs(request: LogRequest, options: LogOptions): AsyncGenerator<string> {
    const { calls, clock, maxBytes } = this.#parts;
    const call = logCall(request);
    const opened = await calls.open(call, options);
    if (opened.status !== 200) throw refusedError(requestText(call), opened, clock.now());
    const { signal, maxLineBytes = maxBytes } = options;
    yield* logLines({ response: opened.response, signal, maxLineBytes, request: requestText(call) });
  }

  async request(request: RawRequest): Promise<unknown> {
    return this.#json(rawCall(request), request);
  }

  onWrite(listener: (write: AcceptedWrite) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#parts.calls.close();
    this.#parts.agents.close();
  }

  async #open(call: Call, { signal, idleTimeoutMs, openTimeoutMs = DEFAULT_OPEN_TIMEOUT_MS }: WatchOptions) {
    try {
      return await this.#parts.calls.open(call, {
        signal,
        timeoutMs: idleTimeoutMs,
        headersTimeoutMs: openTimeoutMs,
      });
    } catch (cause) {
      if (!(cause instanceof KubeTimeoutError)) throw cause;
      // Unlike a watch that falls silent, one that never opened says nothing about the server's history.
      throw new KubeConnectionError(`${requestText(call)}: no response headers within ${openTimeoutMs} ms`, { cause });
    }
  }

  async #write<T extends KubeObject>(type: ResourceType<T>, call: Call, options: WriteOptions): Promise<T> {
    const object = decodeObject(await this.#json(call, options), type, requestText(call));
    // Some subresources (scale, eviction, token) answer with another kind: that is not a version of the object.
    if (!options.dryRun && object.kind === type.kind) {
      if (endedByUpdate(object))
        this.#tell({ type: "gone", resource: type, key: keyOf(object), uid: object.metadata?.uid });
      else this.#tell({ type: "written", resource: type, object });
    }
    return object;
  }

  #gone(end: {
    readonly type: ResourceType;
    readonly key: ObjectKey;
    readonly options: DeleteOptions;
    readonly uid: string | undefined;
  }): { readonly type: "gone" } {
    if (!end.options.dryRun) this.#tell({ type: "gone", resource: end.type, key: end.key, uid: end.uid });
    return { type: "gone" };
  }

  async #json(call: Call, options: CallOptions): Promise<unknown> {
    const answer = await this.#send(call, options);
    return decodeJson(answer.body, requestText(call));
  }

  async #send(call: Call, options: CallOptions): Promise<ApiAnswer> {
    const answer = await this.#parts.calls.send(call, options);
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw refusedError(requestText(call), answer, this.#parts.clock.now());
  }

  /** The write is done: a listener that fails is a defect to report, not a reason to call the write failed. */
  #tell(write: AcceptedWrite): void {
    for (const listener of this.#listeners) {
      try {
        listener(write);
      } catch (error) {
        this.#parts.logger.error("write listener failed", error, { resource: resourceText(write.resource) });
      }
    }
  }
}
