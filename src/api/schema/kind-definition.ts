// The definition of a CRD besides its schemas. The generator renders the manifest, the chart and the reference page
// from it.
import type { KindNames } from "../group.ts";
import type { AnyNode } from "./schema.ts";

export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "boolean" | "date";
  readonly jsonPath: string;
  readonly description: string;
}

export interface KindDefinition {
  readonly names: KindNames;
  readonly description: string;
  readonly spec: AnyNode;
  readonly status: AnyNode;
  /** Shown by `kubectl get`, in this order. */
  readonly columns: readonly PrinterColumn[];
}

export const AGE_COLUMN = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
  description: "Time since creation",
} as const satisfies PrinterColumn;

export const READY_COLUMN = {
  name: "Ready",
  type: "string",
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
  description: "Status of the condition Ready",
} as const satisfies PrinterColumn;
