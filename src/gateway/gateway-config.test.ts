import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { maxSubClusters } from "./clusters.ts";
import { type GatewayConfig, renderGatewayConfig } from "./gateway-config.ts";
import { POD_PLACEMENT } from "./placement.ts";
import { serialiseGatewayConfig } from "./serialise.ts";

const text = (namespace: string, metricsPort?: number): string =>
  serialiseGatewayConfig(renderGatewayConfig({ namespace, metricsPort }));

describe("the gateway configuration", () => {
  test("matches the reviewed golden file", async () => {
    await expect(text("analytics")).toMatchFileSnapshot("gateway-config.golden.yaml");
  });

  test("depends on the namespace and the metrics port alone", () => {
    expect(text("a")).toBe(text("a"));
    expect(text("a")).not.toBe(text("b"));
    expect(text("a", 9100)).not.toBe(text("a"));
  });

  test.each([undefined, 0, 9090])("metrics port %s is the default port", (metricsPort) => {
    expect(text("a", metricsPort)).toBe(text("a"));
  });

  test("parses back to the object that was rendered", () => {
    const config = renderGatewayConfig({ namespace: "a" });
    expect(parse(serialiseGatewayConfig(config))).toEqual(config);
  });

  test("monitors memory when there is a limit, and bounds engines by it", () => {
    const monitors = (memoryLimitBytes?: number) =>
      renderGatewayConfig({ namespace: "a", memoryLimitBytes }).overload_manager.resource_monitors.map(
        ({ typed_config: { "@type": _, ...fields } }) => fields,
      );
    const connections = { max_active_downstream_connections: "16384" };
    expect(monitors()).toEqual([connections]);
    expect(monitors(1024 ** 3)).toEqual([connections, { max_heap_size_bytes: "858993459" }]);
    const limits = [undefined, 64 * 1024 ** 2, 1024 ** 3, 64 * 1024 ** 3].map(maxSubClusters);
    expect(limits).toEqual([10_000, 1_024, 4_096, 10_000]);
  });

  test("exempts every listener but that of clients from the limits", () => {
    const { admin, static_resources } = renderGatewayConfig({ namespace: "a", wake: true });
    const exempt = static_resources.listeners.map((listener) => [
      listener.name,
      "bypass_overload_manager" in listener && "ignore_global_conn_limit" in listener,
    ]);
    expect(exempt).toEqual([
      ["listener", false],
      ["stats_listener", true],
      ["wake_probe", true],
    ]);
    expect(admin.ignore_global_conn_limit).toBe(true);
  });

  test("never tries a search list, and in other placements differs from a pod in sockets only", () => {
    const resolver = (config: GatewayConfig) => config.typed_dns_resolver_config.typed_config;
    const pod = renderGatewayConfig({ namespace: "a" });
    const resolvers = [{ address: "127.0.0.1", port: 5353 }];
    const elsewhere = renderGatewayConfig({ namespace: "a" }, { ...POD_PLACEMENT, dnsResolvers: resolvers });
    expect(resolver(pod).dns_resolver_options).toEqual({ no_default_search_domain: true });
    expect(resolver(pod)).not.toHaveProperty("resolvers");
    const { resolvers: asked, ...rest } = resolver(elsewhere);
    expect(asked).toEqual([{ socket_address: { address: "127.0.0.1", port_value: 5353 } }]);
    expect(rest).toEqual(resolver(pod));
  });

  test("binds the admin interface to loopback, wherever it runs", () => {
    const pod = renderGatewayConfig({ namespace: "a" });
    const elsewhere = renderGatewayConfig({ namespace: "a" }, { address: "0.0.0.0", clientPort: 1, adminPort: 2 });
    for (const { admin } of [pod, elsewhere]) expect(admin.address.socket_address.address).toBe("127.0.0.1");
  });
});
