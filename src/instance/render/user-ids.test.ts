import { expect, test } from "vitest";
import { OPERATOR_DEFAULTS } from "../../api/operator-defaults.ts";
import { renderInstanceObjects } from "./instance-objects.ts";

const INSTANCE = {
  metadata: { namespace: "ns", name: "lakeside", uid: "u" },
  spec: { id: "x", metadataNG: false, metadata: { engineRegistration: false }, gateway: { metricsPort: 9090 } },
};
const SETTINGS = {
  images: OPERATOR_DEFAULTS.images,
  metadataConfigFormat: "xml",
  wakeAgent: { image: "operator:1", pullPolicy: "" },
} as const;

test("without fixed ids no object names a user or group, and nothing else differs", () => {
  const fixed = renderInstanceObjects(INSTANCE, SETTINGS);
  const assigned = renderInstanceObjects(INSTANCE, { ...SETTINGS, componentUserIds: false });
  expect(JSON.stringify(fixed)).toMatch(/"runAsUser":70.*"fsGroup":70/);
  expect(JSON.stringify(assigned)).not.toMatch(/runAsUser|runAsGroup|fsGroup/);
  const drop = (key: string, value: unknown) => (/^(runAsUser|runAsGroup|fsGroup)$/.test(key) ? undefined : value);
  expect(JSON.parse(JSON.stringify(fixed, drop))).toEqual(JSON.parse(JSON.stringify(assigned)));
  expect(renderInstanceObjects(INSTANCE, { ...SETTINGS, componentUserIds: true })).toEqual(fixed);
});
