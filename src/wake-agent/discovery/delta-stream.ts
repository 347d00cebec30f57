// One discovery stream of Envoy, as a state machine: which resources it is subscribed to, which it was sent, and which
// it has accepted. Knows neither engines nor sockets.
import {
  type DiscoveryRequest,
  type DiscoveryResponse,
  RESOURCE_TYPES,
  type Resource,
  type ResourceKind,
} from "./messages.ts";

/** What Envoy should have now; undefined: no such resource. */
export type Wanted = (kind: ResourceKind, name: string) => Resource | undefined;

export interface DeltaStreamOptions {
  readonly wanted: Wanted;
  readonly send: (response: DiscoveryResponse) => void;
  /** The first request for clusters has arrived, with the clusters that Envoy holds from an earlier stream. */
  readonly onOpen: (names: readonly string[]) => void;
  /** Envoy accepted or rejected something of this name. */
  readonly onProgress: (name: string) => void;
  readonly onRejected: (name: string, error: string) => void;
}

/** By name: the version that was sent last, that Envoy has accepted, and that it has rejected. */
interface Versions {
  readonly sent: Map<string, string>;
  readonly held: Map<string, string>;
  readonly rejected: Map<string, string>;
}

export class DeltaStream {
  readonly #options: DeltaStreamOptions;
  readonly #versions: Readonly<Record<ResourceKind, Versions>> = { cluster: versions(), endpoints: versions() };
  readonly #endpointNames = new Set<string>();
  /** Responses that Envoy has not acknowledged. */
  readonly #inFlight = new Map<string, DiscoveryResponse>();
  #nonce = 0;
  #open = false;

  constructor(options: DeltaStreamOptions) {
    this.#options = options;
  }

  /** Requests of other types are ignored: Envoy is configured for these two alone. */
  receive(request: DiscoveryRequest): void {
    this.#acknowledge(request);
    if (request.typeUrl === RESOURCE_TYPES.cluster) this.#receiveClusters(request);
    if (request.typeUrl === RESOURCE_TYPES.endpoints) this.#receiveEndpoints(request);
  }

  /** Sends whatever Envoy lacks of this name. */
  offer(name: string): void {
    this.#offer("cluster", name);
    this.#offer("endpoints", name);
  }

  /** Envoy has accepted the wanted cluster and its wanted endpoints. */
  isSettled(name: string): boolean {
    return KINDS.every((kind) => {
      const wanted = this.#options.wanted(kind, name);
      return wanted !== undefined && this.#versions[kind].held.get(name) === wanted.version;
    });
  }

  /** Envoy has rejected the wanted cluster or its wanted endpoints. */
  isRejected(name: string): boolean {
    return KINDS.some((kind) => {
      const wanted = this.#options.wanted(kind, name);
      return wanted !== undefined && this.#versions[kind].rejected.get(name) === wanted.version;
    });
  }

  #acknowledge({ nonce, error }: DiscoveryRequest): void {
    const response = this.#inFlight.get(nonce);
    if (response === undefined) return;
    this.#inFlight.delete(nonce);
    const { kind, name, resource } = response;
    if (name === undefined) return;
    if (error !== undefined) this.#options.onRejected(name, error);
    if (resource !== undefined)
      this.#versions[kind][error === undefined ? "held" : "rejected"].set(name, resource.version);
    this.#options.onProgress(name);
  }

  #receiveClusters({ initialVersions }: DiscoveryRequest): void {
    if (this.#open) return;
    this.#open = true;
    const { sent, held } = this.#versions.cluster;
    for (const [name, version] of initialVersions) {
      sent.set(name, version);
      held.set(name, version);
    }
    // Envoy does not serve before the first response, however little there is to respond.
    this.#send({ kind: "cluster", name: undefined, resource: undefined });
    this.#options.onOpen([...initialVersions.keys()]);
  }

  #receiveEndpoints({ subscribe, unsubscribe, initialVersions }: DiscoveryRequest): void {
    const { sent, held } = this.#versions.endpoints;
    for (const name of unsubscribe) {
      this.#endpointNames.delete(name);
      sent.delete(name);
      held.delete(name);
    }
    for (const name of subscribe) {
      this.#endpointNames.add(name);
      // Subscribing once more means that the last ones are lost, unless Envoy names the version that it has.
      const version = initialVersions.get(name);
      for (const map of [sent, held]) {
        if (version === undefined) map.delete(name);
        else map.set(name, version);
      }
      this.#offer("endpoints", name);
      this.#options.onProgress(name);
    }
  }

  #offer(kind: ResourceKind, name: string): void {
    if (kind === "cluster" ? !this.#open : !this.#endpointNames.has(name)) return;
    const resource = this.#options.wanted(kind, name);
    const { sent, held } = this.#versions[kind];
    if (sent.get(name) === resource?.version) return;
    if (resource === undefined) {
      sent.delete(name);
      held.delete(name);
    } else sent.set(name, resource.version);
    this.#send({ kind, name, resource });
    // A cluster that replaces another one waits for endpoints, and Envoy may not ask for those it has.
    if (kind === "cluster" && resource !== undefined && this.#endpointNames.has(name)) {
      for (const map of [this.#versions.endpoints.sent, this.#versions.endpoints.held]) map.delete(name);
      this.#offer("endpoints", name);
    }
  }

  #send(content: Omit<DiscoveryResponse, "nonce">): void {
    const response = { ...content, nonce: String(++this.#nonce) };
    this.#inFlight.set(response.nonce, response);
    this.#options.send(response);
  }
}

const KINDS: readonly ResourceKind[] = ["cluster", "endpoints"];

function versions(): Versions {
  return { sent: new Map(), held: new Map(), rejected: new Map() };
}
