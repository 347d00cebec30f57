import { expect, test } from "vitest";
import { parse } from "yaml";
import { renderGatewayConfigText } from "./gateway.ts";

function heapOf(memory: string | undefined): string | undefined {
  const limits = memory === undefined ? {} : { memory };
  const template = { spec: { containers: [{ name: "envoy", resources: { limits } }] } };
  const spec = { metadata: { engineRegistration: false }, gateway: { metricsPort: 9090, template }, metadataNG: false };
  const { overload_manager } = parse(renderGatewayConfigText({ namespace: "a", name: "i" }, spec));
  return overload_manager.resource_monitors[1]?.typed_config.max_heap_size_bytes;
}

test.each([
  { memory: "1Gi", want: "858993459" },
  { memory: "1024Mi", want: "858993459" },
  { memory: "500M", want: "400000000" },
  { memory: undefined, want: undefined },
  { memory: "0", want: undefined },
])("Envoy monitors its heap by the container's memory limit: $memory", ({ memory, want }) => {
  expect(heapOf(memory)).toBe(want);
});
