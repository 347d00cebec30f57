// Counts with their noun: "1 replica", "2 replicas". Pure.

export const countText = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

export const replicasText = (count: number): string => countText(count, "replica");
