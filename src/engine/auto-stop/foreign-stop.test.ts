import { expect, test } from "vitest";
import { foreignStopMs, replicasSetMs } from "./foreign-stop.ts";

const REPLICAS = { "f:spec": { "f:replicas": {} } };
const time = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, "0")}Z`;
const ms = (second: number): number => Date.parse(time(second));

test("the first of those who hold the replicas set them; the status and other fields do not count", () => {
  const managedFields = [
    { manager: "status", subresource: "status", time: time(1), fieldsV1: REPLICAS },
    { manager: "annotate", time: time(2), fieldsV1: { "f:metadata": {} } },
    { manager: "gitops", time: time(9), fieldsV1: REPLICAS },
    { manager: "scale", subresource: "scale", time: time(5), fieldsV1: REPLICAS },
  ];
  expect(replicasSetMs({ managedFields })).toBe(ms(5));
});

test.each([undefined, {}, { managedFields: [] }, { managedFields: [{ fieldsV1: REPLICAS, time: "soon" }] }])(
  "unknown: %j",
  (metadata) => expect(replicasSetMs(metadata)).toBeUndefined(),
);

test("a stop was before it was seen, whatever the clock of the API server shows", () => {
  expect(foreignStopMs(ms(20), undefined)).toBe(ms(19));
  expect(foreignStopMs(ms(20), ms(5))).toBe(ms(4));
  expect(foreignStopMs(ms(20), ms(30))).toBe(ms(19));
});
