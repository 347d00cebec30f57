// Sums up a V8 heap snapshot by type and by constructor, with the shallow sizes of the objects, which add up to the
// heap.
import { addTo, largestShares, type Share } from "./shares.ts";

export interface HeapSnapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly (readonly string[] | string)[];
    };
  };
  /** One row of numbers after the other. */
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
}

const CONSTRUCTORS = 15;
const MB = 1024 * 1024;

export function summarizeHeap({ snapshot, nodes, strings }: HeapSnapshot): Readonly<Record<string, readonly Share[]>> {
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const at = (field: string): number => {
    const index = fields.indexOf(field);
    if (index < 0) throw new Error(`the snapshot has no field ${field}: it has ${fields.join(", ")}`);
    return index;
  };
  const [typeAt, nameAt, sizeAt] = [at("type"), at("name"), at("self_size")];
  const typeNames = types[typeAt];
  const byType = new Map<string, number>();
  const byConstructor = new Map<string, number>();
  for (let row = 0; row < nodes.length; row += fields.length) {
    const type = (Array.isArray(typeNames) ? typeNames[nodes[row + typeAt] ?? -1] : undefined) ?? "unknown";
    const size = (nodes[row + sizeAt] ?? 0) / MB;
    addTo(byType, type, size);
    if (type === "object") addTo(byConstructor, strings[nodes[row + nameAt] ?? -1] ?? "?", size);
  }
  return {
    "MB by type": largestShares(byType, CONSTRUCTORS),
    "MB of objects": largestShares(byConstructor, CONSTRUCTORS),
  };
}
