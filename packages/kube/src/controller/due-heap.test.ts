import fc from "fast-check";
import { expect, test } from "vitest";
import { type DueEntry, DueHeap } from "./due-heap.ts";

const entry = (dueMs: number, order: number): DueEntry => ({ dueMs, order, slot: -1 });

function drain(heap: DueHeap<DueEntry>): DueEntry[] {
  const out: DueEntry[] = [];
  for (let first = heap.first(); first !== undefined; first = heap.first()) {
    heap.remove(first);
    out.push(first);
  }
  return out;
}

test("entries are ordered by due time, and by age among equals", () => {
  const heap = new DueHeap<DueEntry>();
  for (const one of [entry(5, 0), entry(1, 1), entry(5, 2), entry(3, 3), entry(1, 4)]) heap.push(one);
  expect(drain(heap).map(({ dueMs, order }) => [dueMs, order])).toEqual([
    [1, 1],
    [1, 4],
    [3, 3],
    [5, 0],
    [5, 2],
  ]);
});

test("removing from the middle keeps the order", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50)), fc.array(fc.nat(200)), (dues, removals) => {
      const heap = new DueHeap<DueEntry>();
      const entries = dues.map(entry);
      for (const one of entries) heap.push(one);
      const left = new Set(entries);
      for (const index of removals) {
        const one = entries[index];
        if (one !== undefined) expect(heap.remove(one)).toBe(left.delete(one));
      }
      expect(heap.size).toBe(left.size);
      expect(drain(heap)).toEqual([...left].sort((a, b) => a.dueMs - b.dueMs || a.order - b.order));
    }),
  );
});

test("an entry of another heap is not removed", () => {
  const heap = new DueHeap<DueEntry>();
  const other = new DueHeap<DueEntry>();
  const stranger = entry(1, 0);
  heap.push(entry(1, 0));
  other.push(stranger);
  expect(heap.remove(stranger)).toBe(false);
  expect(heap.size).toBe(1);
});
