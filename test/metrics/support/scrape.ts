// Scrapes a metrics page the way Prometheus does, over HTTP or HTTPS, and reads what is on it.
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

export interface ScrapeResponse {
  readonly status: number | undefined;
  readonly text: string;
  readonly contentType: string;
}

export interface ScrapeOptions {
  readonly token?: string;
  readonly accept?: string;
}

const TIMEOUT_MS = 60_000;

export function scrape(url: string, { token, accept }: ScrapeOptions = {}): Promise<ScrapeResponse> {
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(accept === undefined ? {} : { accept }),
  };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  return new Promise((resolve, reject) => {
    const sent = url.startsWith("https:")
      ? requestHttps(url, { headers, signal, rejectUnauthorized: false, agent: false })
      : requestHttp(url, { headers, signal, agent: false });
    sent.on("error", reject).on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode, text, contentType: response.headers["content-type"] ?? "" }),
      );
    });
    sent.end();
  });
}

export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: string;
}

/** The samples of a page in the text format. Fails on a line that is neither a comment nor a sample. */
export function parsePage(text: string): readonly Series[] {
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map(parseSample);
}

function parseSample(line: string): Series {
  const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
  const [, name, labels = "", value] = match ?? [];
  if (name === undefined || value === undefined) throw new Error(`not a sample: ${line}`);
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"(?:,|$)/g)];
  if (pairs.map(([whole]) => whole).join("") !== labels) throw new Error(`not labels: ${labels}`);
  return { name, value, labels: Object.fromEntries(pairs.map(([, label = "", text = ""]) => [label, text])) };
}
