// One connection to PostgreSQL: password authentication (SCRAM-SHA-256) and simple queries with results as strings. One
// query at a time; nothing is sent twice.
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { clientFinal, clientFirst } from "./scram.ts";

export interface PostgresAddress {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string;
  /** For the connection and for each query. */
  readonly deadlineMs: number;
}

export type Row = readonly (string | null)[];

export interface PostgresConnection {
  query(sql: string): Promise<readonly Row[]>;
  close(): void;
}

/** What the server refused, with its five-letter code (28P01 is a wrong password). */
export class PostgresError extends Error {
  override readonly name = "PostgresError";
  readonly code: string;
  constructor(fields: ReadonlyMap<string, string>) {
    super(`PostgreSQL: ${fields.get("M") ?? "no message"}`);
    this.code = fields.get("C") ?? "";
  }
}

interface Message {
  readonly type: string;
  readonly body: Buffer;
}

const PROTOCOL = 3 << 16;
const AUTH_OK = 0;
const AUTH_SASL = 10;
const AUTH_SASL_CONTINUE = 11;
const AUTH_SASL_FINAL = 12;

export async function openPostgres(address: PostgresAddress): Promise<PostgresConnection> {
  const socket = connect({ host: address.host, port: address.port, noDelay: true });
  // A failed socket closes the stream of messages, and its reader fails; without a reader the next query fails.
  socket.on("error", () => socket.destroy());
  const messages = readMessages(socket);
  const next = async (): Promise<Message> => {
    const timer = setTimeout(() => socket.destroy(new Error("PostgreSQL did not respond in time")), address.deadlineMs);
    try {
      const { value, done } = await messages.next();
      if (done === true || value === undefined) throw new Error("PostgreSQL closed the connection");
      if (value.type === "E") throw new PostgresError(readFields(value.body));
      return value;
    } finally {
      clearTimeout(timer);
    }
  };
  try {
    socket.write(
      frame("", int32(PROTOCOL), text("user"), text(address.user), text("database"), text(address.database), NUL),
    );
    await authenticate(socket, next, address.password);
    await untilReady(next);
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return {
    async query(sql) {
      socket.write(frame("Q", text(sql)));
      return readRows(next, messages);
    },
    close() {
      socket.end(frame("X"));
    },
  };
}

export const quoteLiteral = (value: string): string => `'${value.replaceAll("'", "''")}'`;
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

async function authenticate(socket: Socket, next: () => Promise<Message>, password: string): Promise<void> {
  const nonce = randomBytes(18).toString("base64");
  const first = clientFirst(nonce);
  let final: ReturnType<typeof clientFinal> | undefined;
  for (;;) {
    const { type, body } = await next();
    if (type !== "R") throw new Error(`unexpected message ${type} during authentication`);
    const rest = body.subarray(4).toString();
    switch (body.readInt32BE(0)) {
      case AUTH_OK:
        return;
      case AUTH_SASL:
        if (!rest.split("\0").includes("SCRAM-SHA-256")) throw new Error(`no common authentication in ${rest}`);
        socket.write(frame("p", text("SCRAM-SHA-256"), int32(first.message.length), Buffer.from(first.message)));
        break;
      case AUTH_SASL_CONTINUE:
        final = clientFinal({ password, nonce, bare: first.bare, serverFirst: rest });
        socket.write(frame("p", Buffer.from(final.message)));
        break;
      case AUTH_SASL_FINAL:
        if (final?.verify(rest) !== true) throw new Error("the server does not know the password itself");
        break;
      default:
        throw new Error(
          `PostgreSQL requires authentication method ${body.readInt32BE(0)}, only SCRAM-SHA-256 is supported`,
        );
    }
  }
}

async function untilReady(next: () => Promise<Message>): Promise<void> {
  while ((await next()).type !== "Z");
}

async function readRows(next: () => Promise<Message>, messages: AsyncGenerator<Message>): Promise<readonly Row[]> {
  const rows: Row[] = [];
  try {
    for (let message = await next(); message.type !== "Z"; message = await next())
      if (message.type === "D") rows.push(readRow(message.body));
  } catch (error) {
    // After a rejected statement the server sends ReadyForQuery or closes the connection; either belongs to this query.
    if (error instanceof PostgresError) await skipToReady(messages);
    throw error;
  }
  return rows;
}

async function skipToReady(messages: AsyncGenerator<Message>): Promise<void> {
  for (;;) {
    const { value, done } = await messages.next();
    if (done === true || value.type === "Z") return;
  }
}

async function* readMessages(socket: Socket): AsyncGenerator<Message, undefined> {
  let pending: Buffer = Buffer.alloc(0);
  for await (const chunk of socket) {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= 5 && pending.length >= pending.readInt32BE(1) + 1) {
      const end = pending.readInt32BE(1) + 1;
      yield { type: String.fromCharCode(pending.readUInt8(0)), body: pending.subarray(5, end) };
      pending = pending.subarray(end);
    }
  }
  return undefined;
}

function readRow(body: Buffer): Row {
  let at = 2;
  return Array.from({ length: body.readInt16BE(0) }, () => {
    const length = body.readInt32BE(at);
    at += 4 + Math.max(0, length);
    return length < 0 ? null : body.toString("utf8", at - length, at);
  });
}

function readFields(body: Buffer): ReadonlyMap<string, string> {
  return new Map(
    body
      .toString()
      .split("\0")
      .map((field) => [field.slice(0, 1), field.slice(1)]),
  );
}

const NUL = Buffer.alloc(1);
const text = (value: string): Buffer => Buffer.from(`${value}\0`);

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function frame(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}
