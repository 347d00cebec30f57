// SCRAM-SHA-256 (RFC 7677), the client's side, as pure functions: how a password is proved without being sent.
import { createHash, createHmac, pbkdf2Sync, timingSafeEqual } from "node:crypto";

/** The first message, and the part of it that later messages are computed from. */
export function clientFirst(nonce: string): { readonly message: string; readonly bare: string } {
  const bare = `n=,r=${nonce}`; // The user name is in the connection's start-up message already.
  return { message: `n,,${bare}`, bare };
}

export interface ClientFinal {
  readonly message: string;
  /** Whether the server knows the password too. */
  verify(serverFinal: string): boolean;
}

export interface ScramExchange {
  readonly password: string;
  readonly nonce: string;
  readonly bare: string;
  readonly serverFirst: string;
}

export function clientFinal({ password, nonce, bare, serverFirst }: ScramExchange): ClientFinal {
  const fields = new Map(serverFirst.split(",").map((field) => [field.slice(0, 1), field.slice(2)]));
  const serverNonce = fields.get("r") ?? "";
  if (!serverNonce.startsWith(nonce)) throw new Error("the server responded to another client's challenge");
  const salt = Buffer.from(fields.get("s") ?? "", "base64");
  const salted = pbkdf2Sync(password.normalize("NFKC"), salt, Number(fields.get("i")), 32, "sha256");
  const clientKey = hmac(salted, "Client Key");
  const withoutProof = `c=biws,r=${serverNonce}`;
  const exchange = `${bare},${serverFirst},${withoutProof}`;
  const signature = hmac(createHash("sha256").update(clientKey).digest(), exchange);
  const proof = Buffer.from(clientKey.map((byte, index) => byte ^ (signature[index] ?? 0)));
  const expected = hmac(hmac(salted, "Server Key"), exchange);
  return {
    message: `${withoutProof},p=${proof.toString("base64")}`,
    verify(serverFinal) {
      const actual = Buffer.from(/^v=(.*)$/.exec(serverFinal)?.[1] ?? "", "base64");
      return actual.length === expected.length && timingSafeEqual(actual, expected);
    },
  };
}

const hmac = (key: Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
