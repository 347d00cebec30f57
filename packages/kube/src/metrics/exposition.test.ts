import { gunzipSync } from "node:zlib";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { expect, test } from "vitest";
import { renderMetrics } from "./exposition.ts";
import { renderOpenMetrics } from "./open-metrics.ts";

function example(): Registry {
  const registry = new Registry();
  const registers = [registry];
  new Counter({ registers, name: "things_total", help: 'How "many"\nthings.', labelNames: ["kind"] }).inc({
    kind: "a",
  });
  new Gauge({ registers, name: "level", help: "The level.", labelNames: ["name"] }).set({ name: 'x"\\\ny' }, -1.5);
  new Gauge({ registers, name: "limit", help: "No limit." }).set(Number.POSITIVE_INFINITY);
  new Histogram({ registers, name: "wait_seconds", help: "Waiting.", buckets: [1, 2] }).observe(1.5);
  return registry;
}

test("OpenMetrics: counters keep their suffix on samples only, and the output ends with EOF", async () => {
  expect(await renderOpenMetrics(example())).toBe(
    [
      "# TYPE things counter",
      '# HELP things How \\"many\\"\\nthings.',
      'things_total{kind="a"} 1',
      "# TYPE level gauge",
      "# HELP level The level.",
      'level{name="x\\"\\\\\\ny"} -1.5',
      "# TYPE limit gauge",
      "# HELP limit No limit.",
      "limit +Inf",
      "# TYPE wait_seconds histogram",
      "# HELP wait_seconds Waiting.",
      'wait_seconds_bucket{le="1"} 0',
      'wait_seconds_bucket{le="2"} 1',
      'wait_seconds_bucket{le="+Inf"} 1',
      "wait_seconds_sum 1.5",
      "wait_seconds_count 1",
      "# EOF",
      "",
    ].join("\n"),
  );
});

test("rendering one format does not affect the next one in the other", async () => {
  const registry = example();
  const before = await registry.metrics();
  await renderOpenMetrics(registry);
  expect(await registry.metrics()).toBe(before);
});

const PROMETHEUS =
  "application/openmetrics-text;version=1.0.0;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=0.0.4;q=0.4,*/*;q=0.2";

test.each([
  { accept: undefined, open: false },
  { accept: "*/*", open: false },
  { accept: "text/plain", open: false },
  { accept: "application/openmetrics-text", open: true },
  { accept: PROMETHEUS, open: true },
  { accept: "text/plain;q=0.9, application/openmetrics-text;q=0.1", open: false },
  { accept: "application/openmetrics-text;q=0", open: false },
])("accept $accept", async ({ accept, open }) => {
  const response = await renderMetrics(example(), accept === undefined ? {} : { accept });
  expect(response.headers?.["content-type"]).toBe(
    open ? "application/openmetrics-text; version=1.0.0; charset=utf-8" : "text/plain; version=0.0.4; charset=utf-8",
  );
  expect(String(response.body).endsWith("# EOF\n")).toBe(open);
});

test.each([
  { encoding: "gzip", compressed: true },
  { encoding: "deflate, gzip;q=0.5", compressed: true },
  { encoding: "gzip;q=0", compressed: false },
  { encoding: "br", compressed: false },
  { encoding: undefined, compressed: false },
])("accept-encoding $encoding", async ({ encoding, compressed }) => {
  const registry = example();
  const response = await renderMetrics(registry, encoding === undefined ? {} : { "accept-encoding": encoding });
  expect(response.headers?.["content-encoding"]).toBe(compressed ? "gzip" : undefined);
  const text = typeof response.body === "string" ? response.body : gunzipSync(response.body).toString();
  expect(text).toBe(await registry.metrics());
});
