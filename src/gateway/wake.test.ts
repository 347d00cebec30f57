import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { renderGatewayConfig } from "./gateway-config.ts";
import { serialiseGatewayConfig } from "./serialise.ts";
import {
  renderWakeAgentContainer,
  renderWakeAgentTokenVolume,
  type WakeAgentInput,
  wakeAgentRules,
} from "./wake-container.ts";

const text = (wake?: boolean): string => serialiseGatewayConfig(renderGatewayConfig({ namespace: "analytics", wake }));

describe("a gateway that holds queries", () => {
  test("matches the reviewed golden file", async () => {
    await expect(text(true)).toMatchFileSnapshot("gateway-config-wake.golden.yaml");
  });

  test("differs from one that does not hold only where the option is set", () => {
    expect(text(false)).toBe(text());
    expect(text(true)).not.toBe(text());
    expect(text()).not.toContain("wake");
  });

  test("waits longer than its agent, and its streams longer than both", () => {
    expect(text(true)).toContain("HOLD_TIMEOUT_MS = 125000");
    expect(text(true)).toContain("stream_idle_timeout: 300s");
  });

  test("opens what belongs to the agent on loopback only", () => {
    const { listeners, clusters } = renderGatewayConfig({ namespace: "a", wake: true }).static_resources;
    const probe = listeners.find(({ name }) => name === "wake_probe");
    expect(probe?.address.socket_address).toEqual({ address: "127.0.0.1", port_value: 9904 });
    expect(stringify(clusters.find(({ name }) => name === "wake_agent"))).toContain("address: 127.0.0.1");
  });
});

describe("the agent's container", () => {
  const render = (envoyHasMemoryLimit: boolean, changes: Partial<WakeAgentInput> = {}) =>
    renderWakeAgentContainer({
      image: "example.com/operator:1",
      imagePullPolicy: "IfNotPresent",
      mode: "annotation",
      seccompProfile: { type: "RuntimeDefault" },
      sleepCommand: undefined,
      envoyHasMemoryLimit,
      ...changes,
    });

  test("matches the reviewed golden file", async () => {
    const objects = { container: render(true), volume: renderWakeAgentTokenVolume(), rules: wakeAgentRules() };
    await expect(stringify(objects)).toMatchFileSnapshot("wake-container.golden.yaml");
  });

  test("gets Envoy's memory limit only when there is one", () => {
    expect(render(false).env?.map(({ name }) => name)).toEqual(["POD_NAMESPACE"]);
    expect(render(true).env?.map(({ name }) => name)).toEqual(["POD_NAMESPACE", "ENVOY_MEMORY_LIMIT_BYTES"]);
  });

  test("in demand mode it writes no wake requests, and needs no right on engines", () => {
    const [stamping, showing] = [render(true), render(true, { mode: "demand" })];
    expect(stamping.args?.filter((arg) => !showing.args?.includes(arg))).toEqual(["--stamp-annotation=true"]);
    expect({ ...stamping, args: [] }).toEqual({ ...showing, args: [] });
    expect(wakeAgentRules("demand").flatMap(({ resources = [] }) => resources)).toEqual(["endpointslices"]);
  });

  test("sleep-by-own-image: runs the image's own sleep where Kubernetes has no sleep action", () => {
    const { lifecycle } = render(true, { sleepCommand: ["/node", "/operator.mjs", "sleep"] });
    expect(render(true).lifecycle).toEqual({ preStop: { sleep: { seconds: 12 } } });
    expect(lifecycle).toEqual({ preStop: { exec: { command: ["/node", "/operator.mjs", "sleep", "12"] } } });
  });

  test("has a seccomp profile only when one is set", () => {
    const { seccompProfile, ...rest } = render(true).securityContext ?? {};
    expect(seccompProfile).toEqual({ type: "RuntimeDefault" });
    expect(render(true, { seccompProfile: undefined }).securityContext).toEqual(rest);
  });

  test("has no probe: an unhealthy agent must not take the gateway out of service", () => {
    const { livenessProbe, readinessProbe, startupProbe } = render(true);
    expect([livenessProbe, readinessProbe, startupProbe]).toEqual([undefined, undefined, undefined]);
  });
});
