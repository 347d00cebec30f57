// A DNS server on loopback with records that a test changes while it runs, as a cluster's DNS server follows its
// Services. It serves address queries only, can be silent or failing, and can cache responses.
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";

export interface DnsServer {
  readonly address: string;
  readonly port: number;
  /** What the server does with a query from now on. */
  behave(how: "answer" | "servfail" | "silent"): void;
  /**
   * The addresses of a name. An empty list is a name without addresses; undefined a name that does not exist. `*.example.com` holds
   * for every name below example.com that has no record of its own.
   */
  set(name: string, addresses: readonly string[] | undefined): void;
  /**
   * From now on every response, NXDOMAIN included, is cached for this long, regardless of changes: CoreDNS with `cache
   * 30` is `cacheFor(30_000)`. 0, the default, clears the cache and follows every change immediately.
   */
  cacheFor(ms: number): void;
  /** The number of queries for the IPv4 addresses of this name. */
  asked(name: string): number;
  /** Every query so far, in order, of every type. */
  questions(): readonly Question[];
  close(): Promise<void>;
}

const TYPE_A = 1;
const CLASS_IN = 1;
const RESPONSE_AUTHORITATIVE = 0x8400;
const RECURSION = 0x0180;
const NO_ERROR = 0;
const SERVER_FAILURE = 2;
const NAME_ERROR = 3;
const HEADER_BYTES = 12;
/** The question section starts right after the header: every answer record refers to it by this pointer. */
const POINTER_TO_QUESTION = 0xc000 | HEADER_BYTES;
/** As in kubeadm's DNS server: far longer than any test waits, so that a client that honours it is detected. */
const TTL_SECONDS = 30;

export interface Question {
  readonly name: string;
  /** 1 requests IPv4 addresses, 28 IPv6 addresses. */
  readonly type: number;
  /** Where the question section ends in the message. */
  readonly end: number;
}

export interface DnsServerOptions {
  readonly address?: string;
  /** Default: a free one. A resolv.conf can name no other port than 53. */
  readonly port?: number;
}

export async function startDnsServer({ address = "127.0.0.1", port = 0 }: DnsServerOptions = {}): Promise<DnsServer> {
  const socket = createSocket("udp4");
  const records = new Map<string, readonly string[]>();
  const cache = new Map<string, CachedAnswer>();
  const questions: Question[] = [];
  let cacheMs = 0;
  let behaviour: "answer" | "servfail" | "silent" = "answer";
  const look = (name: string): CachedAnswer => {
    const now = performance.now();
    const cached = cache.get(name);
    if (cached !== undefined && now < cached.staleAtMs) return cached;
    const fresh = { addresses: records.get(name) ?? records.get(wildcardOf(name)), staleAtMs: now + cacheMs };
    if (cacheMs > 0) cache.set(name, fresh);
    return fresh;
  };
  socket.on("message", (message, from) => {
    const question = readQuestion(message);
    questions.push(question);
    if (behaviour === "silent") return;
    const { addresses } = look(question.name);
    if (behaviour === "servfail") reply({ socket, from }, renderAnswer(message, question, SERVER_FAILURE, []));
    else if (addresses === undefined) reply({ socket, from }, renderAnswer(message, question, NAME_ERROR, []));
    else reply({ socket, from }, renderAnswer(message, question, NO_ERROR, question.type === TYPE_A ? addresses : []));
  });
  socket.bind(port, address);
  await once(socket, "listening");
  return {
    address,
    port: socket.address().port,
    behave(how) {
      behaviour = how;
    },
    set(name, addresses) {
      if (addresses === undefined) records.delete(name);
      else records.set(name, addresses);
    },
    cacheFor(ms) {
      cacheMs = ms;
      cache.clear();
    },
    asked: (name) => questions.filter((question) => question.type === TYPE_A && question.name === name).length,
    questions: () => questions,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

interface CachedAnswer {
  readonly addresses: readonly string[] | undefined;
  readonly staleAtMs: number;
}

/** The record that holds for a name without one of its own. Wildcards are for whole domains here: two labels at the end. */
function wildcardOf(name: string): string {
  return `*.${name.split(".").slice(-2).join(".")}`;
}

function reply(to: { readonly socket: Socket; readonly from: RemoteInfo }, message: Buffer): void {
  to.socket.send(message, to.from.port, to.from.address);
}

function readQuestion(message: Buffer): Question {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function renderAnswer(query: Buffer, question: Question, code: number, addresses: readonly string[]): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(RESPONSE_AUTHORITATIVE | RECURSION | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  const answers = addresses.map((address) => {
    const record = Buffer.alloc(16);
    record.writeUInt16BE(POINTER_TO_QUESTION, 0);
    record.writeUInt16BE(TYPE_A, 2);
    record.writeUInt16BE(CLASS_IN, 4);
    record.writeUInt32BE(TTL_SECONDS, 6);
    record.writeUInt16BE(4, 10);
    record.set(address.split(".").map(Number), 12);
    return record;
  });
  return Buffer.concat([header, query.subarray(HEADER_BYTES, question.end), ...answers]);
}
