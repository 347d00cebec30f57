// Renders the metrics in the format that the client prefers: OpenMetrics if requested, the Prometheus text format
// otherwise, and compressed if accepted.
import type { IncomingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Registry } from "prom-client";
import type { HttpResponse } from "../serving/http-response.ts";
import { OPEN_METRICS_TYPE, renderOpenMetrics } from "./open-metrics.ts";

const compress = promisify(gzip);

export async function renderMetrics(registry: Registry, headers: IncomingHttpHeaders): Promise<HttpResponse> {
  const isOpen = prefersOpenMetrics(headers.accept ?? "");
  const text = isOpen ? await renderOpenMetrics(registry) : await registry.metrics();
  const type = { "content-type": isOpen ? OPEN_METRICS_TYPE : registry.contentType, vary: "accept, accept-encoding" };
  // Node joins repeated headers of this name into one string.
  if (weightOf("gzip", String(headers["accept-encoding"] ?? "")) === 0)
    return { status: 200, body: text, headers: type };
  return { status: 200, body: await compress(text), headers: { ...type, "content-encoding": "gzip" } };
}

function prefersOpenMetrics(accept: string): boolean {
  const open = weightOf("application/openmetrics-text", accept);
  return open > 0 && open >= weightOf("text/plain", accept);
}

/** The weight (RFC 9110 §12.4.2) of this entry in the list; 0 if it is not listed. */
function weightOf(wanted: string, list: string): number {
  const weights = list.split(",").flatMap((entry) => {
    const [name = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    if (name !== wanted) return [];
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    return [weight === undefined ? 1 : Number.parseFloat(weight) || 0];
  });
  return Math.max(0, ...weights);
}
