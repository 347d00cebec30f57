import { expect, test } from "vitest";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { addressText, engineScheme, gatewayScheme } from "./scheme.ts";

const instance = (tls: object | undefined, status: object | undefined): FireboltInstance =>
  ({ spec: { metadata: {}, gateway: {}, ...(tls && { tls }) }, ...(status && { status }) }) as FireboltInstance;

test.each([
  [undefined, undefined, "http"],
  [{ gateway: { enabled: true } }, undefined, undefined],
  [{ gateway: { enabled: true } }, { gatewayTLS: {} }, "https"],
])("gateway: %j %j → %s", (tls, status, scheme) => expect(gatewayScheme(instance(tls, status))).toBe(scheme));

test.each([
  [undefined, undefined, "http"],
  [{ engine: { enabled: true } }, undefined, undefined],
  [{ engine: { enabled: true } }, { engineTLS: { reencrypting: false } }, undefined],
  [{ engine: { enabled: true } }, { engineTLS: { reencrypting: true } }, "https"],
  [undefined, { engineTLS: { reencrypting: true } }, undefined],
])("engine: %j %j → %s", (tls, status, scheme) => expect(engineScheme(instance(tls, status))).toBe(scheme));

test("an unknown scheme is omitted", () => {
  expect(addressText("https", 1)).toBe("https://localhost:1");
  expect(addressText(undefined, 1)).toBe("localhost:1");
});
