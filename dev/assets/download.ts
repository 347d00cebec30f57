// Downloads a file over HTTPS and checks its checksum. It fails quickly without a network, and never keeps a file that
// it has not verified.
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { Agent, get } from "node:https";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { getCACertificates } from "node:tls";
import type { Checksum } from "./pins.ts";
import { type Progress, withTicker } from "./ticker.ts";

const RESPONSE_DEADLINE_MS = 5_000;
const IDLE_TIMEOUT_MS = 30_000;
const WHOLE_DEADLINE_MS = 3_600_000;
const MAX_REDIRECTS = 5;
const MEGABYTE = 1_000_000;

export interface Download {
  /** What is being fetched, for progress. */
  readonly title: string;
  readonly url: string;
  readonly checksum: Checksum;
  /** The file to write. */
  readonly output: string;
  readonly progress: Progress;
  /** Aborts it. */
  readonly signal?: AbortSignal;
  /** Root certificates to trust instead of the machine's, PEM. */
  readonly ca?: string;
}

export async function download(wanted: Download): Promise<void> {
  // The response comes before any progress output: without a network this fails immediately and the next source is
  // tried.
  const response = await open(wanted.url, wanted.ca);
  try {
    await withTicker(`downloading ${wanted.title}`, wanted.progress, (detail) => save(response, wanted, detail));
  } catch (error) {
    await rm(wanted.output, { force: true });
    throw error;
  }
}

async function save(response: IncomingMessage, wanted: Download, detail: (text: string) => void): Promise<void> {
  const total = Number(response.headers["content-length"] ?? 0);
  const hash = createHash(wanted.checksum.algorithm);
  let received = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      received += chunk.length;
      detail(`${Math.round(received / MEGABYTE)} of ${total === 0 ? "?" : Math.round(total / MEGABYTE)} MB`);
      done(null, chunk);
    },
  });
  response.setTimeout(IDLE_TIMEOUT_MS, () =>
    response.destroy(new Error(`no data received for ${IDLE_TIMEOUT_MS / 1000} s`)),
  );
  const deadline = AbortSignal.timeout(WHOLE_DEADLINE_MS);
  const signal = wanted.signal === undefined ? deadline : AbortSignal.any([deadline, wanted.signal]);
  await pipeline(response, meter, createWriteStream(wanted.output, { mode: 0o600 }), { signal });
  const { algorithm, digest: pinned } = wanted.checksum;
  const digest = hash.digest("hex");
  if (digest !== pinned)
    throw new Error(`${wanted.url} has the ${algorithm} checksum ${digest} instead of the pinned ${pinned}`);
}

async function open(url: string, ca: string | undefined): Promise<IncomingMessage> {
  let next = new URL(url);
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    if (next.protocol !== "https:")
      throw new Error(`${url} redirects to ${next.protocol}//, but only https is accepted`);
    const response = await responseOf(next, ca);
    const { statusCode = 0, headers } = response;
    if (statusCode === 200) return response;
    response.resume();
    if (statusCode < 300 || statusCode > 399 || headers.location === undefined)
      throw new Error(`${next.href} returned ${statusCode}`);
    next = new URL(headers.location, next);
  }
  throw new Error(`${url} redirects more than ${MAX_REDIRECTS} times`);
}

/** Node's own and the system's: behind a company's proxy the other clients of the machine trust those of the system. */
export function trustedCertificates(): string[] {
  return [...getCACertificates("default"), ...getCACertificates("system")];
}

function responseOf(url: URL, ca: string | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: new Agent({ proxyEnv: process.env, ca: ca ?? trustedCertificates() }) });
    const timer = setTimeout(
      () => request.destroy(new Error(`${url.host} did not respond within ${RESPONSE_DEADLINE_MS / 1000} s`)),
      RESPONSE_DEADLINE_MS,
    );
    request.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    request.once("response", (response) => {
      clearTimeout(timer);
      resolve(response);
    });
  });
}
