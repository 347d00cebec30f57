// The messages of Envoy's incremental discovery (envoy.service.discovery.v3): what Envoy sends is decoded, what it gets
// is encoded. The field numbers are those of the published API.
import {
  bytesField,
  MalformedMessage,
  messageField,
  readFields,
  textField,
  textOf,
  type WireField,
} from "./protobuf.ts";

export const DISCOVERY_METHOD = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";

/** The two types of resources that the agent serves. */
export const RESOURCE_TYPES = {
  cluster: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
  endpoints: "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
} as const;
export type ResourceKind = keyof typeof RESOURCE_TYPES;

/** A request of Envoy: a subscription, an acknowledgement, or both. */
export interface DiscoveryRequest {
  readonly typeUrl: string;
  readonly subscribe: readonly string[];
  readonly unsubscribe: readonly string[];
  /** In the first request of a type: what Envoy holds from an earlier stream, version by name. */
  readonly initialVersions: ReadonlyMap<string, string>;
  /** The response that this request acknowledges; empty when it acknowledges none. */
  readonly nonce: string;
  /** Why Envoy rejected that response; undefined when it accepted it. */
  readonly error: string | undefined;
}

/** Throws MalformedMessage. */
export function decodeRequest(bytes: Buffer): DiscoveryRequest {
  const subscribe: string[] = [];
  const unsubscribe: string[] = [];
  const initialVersions = new Map<string, string>();
  let [typeUrl, nonce] = ["", ""];
  let error: string | undefined;
  for (const field of readFields(bytes)) {
    switch (field.field) {
      case 2:
        typeUrl = textOf(field);
        break;
      case 3:
        subscribe.push(textOf(field));
        break;
      case 4:
        unsubscribe.push(textOf(field));
        break;
      case 5:
        initialVersions.set(...decodeEntry(field));
        break;
      case 6:
        nonce = textOf(field);
        break;
      case 7:
        error = decodeError(field);
        break;
    }
  }
  return { typeUrl, subscribe, unsubscribe, initialVersions, nonce, error };
}

function decodeEntry(entry: WireField): [string, string] {
  let [key, value] = ["", ""];
  for (const field of nested(entry)) {
    if (field.field === 1) key = textOf(field);
    if (field.field === 2) value = textOf(field);
  }
  return [key, value];
}

/** google.rpc.Status: its message. */
function decodeError(status: WireField): string {
  let message = "";
  for (const field of nested(status)) if (field.field === 2) message = textOf(field);
  return message;
}

function nested({ field, bytes }: WireField): Generator<WireField> {
  if (bytes === undefined) throw new MalformedMessage(`field ${field} is not a message`);
  return readFields(bytes);
}

export interface Resource {
  /** Changes with the content, and is the same in every process: Envoy keeps it across streams. */
  readonly version: string;
  readonly body: Buffer;
}

export interface DiscoveryResponse {
  readonly kind: ResourceKind;
  readonly nonce: string;
  /** Undefined: a response about nothing, by which Envoy learns that there is no more to wait for. */
  readonly name: string | undefined;
  /** Undefined: the resource is removed. */
  readonly resource: Resource | undefined;
}

/** One resource per response: what Envoy rejects concerns this resource alone. */
export function encodeResponse({ kind, nonce, name, resource }: DiscoveryResponse): Buffer {
  const typeUrl = RESOURCE_TYPES[kind];
  if (name === undefined) return Buffer.concat([textField(4, typeUrl), textField(5, nonce)]);
  const content =
    resource === undefined
      ? textField(6, name)
      : messageField(
          2,
          textField(1, resource.version),
          messageField(2, textField(1, typeUrl), bytesField(2, resource.body)),
          textField(3, name),
        );
  return Buffer.concat([content, textField(4, typeUrl), textField(5, nonce)]);
}
