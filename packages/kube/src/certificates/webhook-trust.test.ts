// The patch of a CA bundle is bound to the version that was read, and contains only bundles.
import { expect, test } from "vitest";
import { ValidatingWebhookConfiguration } from "../kinds/index.ts";
import { renderTrustPatch, trustsEverywhere, type WebhookConfiguration } from "./webhook-trust.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const configuration = (...bundles: readonly (string | undefined)[]): WebhookConfiguration => ({
  metadata: { name: "c", resourceVersion: "7" },
  webhooks: bundles.map((bundle, index) => ({
    name: `h${index}`,
    clientConfig: bundle === undefined ? {} : { caBundle: base64(bundle) },
  })),
});

test("only webhooks with another bundle are patched, and only their bundle", () => {
  expect(renderTrustPatch(configuration("new", "old", undefined), "new")).toEqual([
    { op: "test", path: "/metadata/resourceVersion", value: "7" },
    { op: "add", path: "/webhooks/1/clientConfig/caBundle", value: base64("new") },
    { op: "add", path: "/webhooks/2/clientConfig/caBundle", value: base64("new") },
  ]);
});

test("nothing is written when nothing differs", () => {
  expect(renderTrustPatch(configuration("same", "same"), "same")).toBeUndefined();
  expect(renderTrustPatch(configuration(), "same")).toBeUndefined();
});

test("a certificate is trusted if the bundle of every webhook of every configuration contains it", () => {
  const observed = (...all: readonly WebhookConfiguration[]) =>
    all.map((one) => ({ target: { type: ValidatingWebhookConfiguration, name: "c" }, configuration: one }));
  expect(trustsEverywhere(observed(configuration("A\nB\n", "B\nA\n")), "B\n")).toBe(true);
  expect(trustsEverywhere(observed(configuration("A\nB\n"), configuration("A\n")), "B\n")).toBe(false);
  expect(trustsEverywhere(observed(configuration(undefined)), "B\n")).toBe(false);
  expect(trustsEverywhere([], "B\n")).toBe(true);
});
