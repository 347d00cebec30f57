// The client of the API server: verbs over resource types, built from a ClusterConfig. Listeners receive every accepted
// write before the call returns. Holds no state about objects and opens no connection before the first call.
import type { ClusterConfig } from "../config/cluster-config.ts";
import { createCredentials } from "../config/credentials.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { isNotFound, KubeConnectionError, KubeTimeoutError } from "../core/errors.ts";
import { type Logger, silentLogger } from "../core/logger.ts";
import { type KubeList, type KubeObject, keyOf, type ObjectKey } from "../core/object.ts";
import { groupResourceOf, type ResourceType } from "../core/resource.ts";
import { type ApiResponse, apiError, decodeJson, decodeList, decodeObject, parseStatus } from "./api-response.ts";
import { type Call, ClientCalls, describeCall, type RequestInfo } from "./calls.ts";
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
import { removedByDelete, removedByUpdate } from "./deletion.ts";
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

/** Options of a client. */
export interface KubeClientOptions {
  readonly config: ClusterConfig;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly userAgent?: string;
  /** Called for every exchange, including retries: feeds rest_client_requests_total. */
  readonly onRequest?: (info: RequestInfo) => void;
  /** Called just before a write is sent, including retries; may throw NotLeaderError. */
  readonly guardWrite?: () => void;
  /** Requests per second and burst size; 0 means no limit. */
  readonly qps?: number;
  readonly burst?: number;
  /** Connections for calls; watches have their own. Default 32. */
  readonly maxSockets?: number;
  /** Longest response, and longest event of a watch, to hold in memory. Default 128 MiB. */
  readonly maxResponseBytes?: number;
}

const DEFAULT_MAX_SOCKETS = 32;
const DEFAULT_OPEN_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_RESPONSE_BYTES = 128 * 1024 * 1024;

/** Creates a client for one cluster. It opens no connection before the first call. */
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
    return decodeObject(await this.#json(call, options), type, describeCall(call));
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
    return decodeList(await this.#json(call, options), type, describeCall(call));
  }

  listAll<T extends KubeObject>(type: ResourceType<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    return listAllPages((page) => this.list(type, page), options, this.#parts.clock);
  }

  async *watch<T extends KubeObject>(type: ResourceType<T>, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const { clock, maxBytes } = this.#parts;
    const { signal, idleTimeoutMs, initialIdleTimeoutMs = idleTimeoutMs } = options;
    const call = watchCall(type, options);
    const request = describeCall(call);
    const opened = await this.#open(call, options);
    if (opened.status !== 200) throw apiError(request, opened, clock.now());
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
    const response = await this.#send(call, options);
    const status = parseStatus(response.body);
    if (status !== undefined) return this.#gone({ type, key, options, uid: status.details?.uid });
    const object = decodeObject(decodeJson(response.body, describeCall(call)), type, describeCall(call));
    if (removedByDelete(object)) return this.#gone({ type, key, options, uid: object.metadata?.uid });
    if (!options.dryRun) this.#notify({ type: "written", resource: type, object });
    return { type: "terminating", object };
  }

  async podProxyGet(request: ProxyRequest): Promise<{ readonly status: number; readonly body: string }> {
    const call = proxyCall(request);
    const response = await this.#parts.calls.send(call, request);
    if (response.status >= 400 && parseStatus(response.body) !== undefined)
      throw apiError(describeCall(call), response, this.#parts.clock.now());
    return { status: response.status, body: response.body };
  }

  async *podLogs(request: LogRequest, options: LogOptions): AsyncGenerator<string> {
    const { calls, clock, maxBytes } = this.#parts;
    const call = logCall(request);
    const opened = await calls.open(call, options);
    // No Content: the pod has no node yet, so nothing has written to its log.
    if (opened.status === 204) return;
    if (opened.status !== 200) throw apiError(describeCall(call), opened, clock.now());
    const { signal, maxLineBytes = maxBytes } = options;
    yield* logLines({ response: opened.response, signal, maxLineBytes, request: describeCall(call) });
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
      // Unlike a watch that falls silent, one that never opened reveals nothing about the server's history.
      throw new KubeConnectionError(`${describeCall(call)}: no response headers within ${openTimeoutMs} ms`, { cause });
    }
  }

  async #write<T extends KubeObject>(type: ResourceType<T>, call: Call, options: WriteOptions): Promise<T> {
    const object = decodeObject(await this.#json(call, options), type, describeCall(call));
    // Some subresources (scale, eviction, token) return another kind, which is not a version of the object.
    if (!options.dryRun && object.kind === type.kind) {
      if (removedByUpdate(object))
        this.#notify({ type: "gone", resource: type, key: keyOf(object), uid: object.metadata?.uid });
      else this.#notify({ type: "written", resource: type, object });
    }
    return object;
  }

  #gone(end: {
    readonly type: ResourceType;
    readonly key: ObjectKey;
    readonly options: DeleteOptions;
    readonly uid: string | undefined;
  }): { readonly type: "gone" } {
    if (!end.options.dryRun) this.#notify({ type: "gone", resource: end.type, key: end.key, uid: end.uid });
    return { type: "gone" };
  }

  async #json(call: Call, options: CallOptions): Promise<unknown> {
    const response = await this.#send(call, options);
    return decodeJson(response.body, describeCall(call));
  }

  async #send(call: Call, options: CallOptions): Promise<ApiResponse> {
    const response = await this.#parts.calls.send(call, options);
    if (response.status >= 200 && response.status < 300) return response;
    throw apiError(describeCall(call), response, this.#parts.clock.now());
  }

  /** The write is done: a listener that fails is a defect to log, not a reason to fail the write. */
  #notify(write: AcceptedWrite): void {
    for (const listener of this.#listeners) {
      try {
        listener(write);
      } catch (error) {
        this.#parts.logger.error("write listener failed", error, { resource: groupResourceOf(write.resource) });
      }
    }
  }
}
