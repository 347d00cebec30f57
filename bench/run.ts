// `npm run bench -- NAME [options]`: runs one benchmark. Progress goes to stderr; the last line on stdout is its result
// as JSON.
import { existsSync, readdirSync } from "node:fs";

interface Benchmark {
  run(args: readonly string[]): Promise<object>;
}

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(".ts") && file !== "run.ts")
  .map((file) => file.slice(0, -".ts".length));

const [name, ...args] = process.argv.slice(2);
if (name === undefined || !names.includes(name) || !existsSync(`${import.meta.dirname}/${name}.ts`)) {
  console.error(`usage: npm run bench -- NAME [options]\nknown benchmarks: ${names.join(", ")}`);
  process.exit(2);
}
const benchmark = (await import(`./${name}.ts`)) as Benchmark;
const startedMs = performance.now();
const result = await benchmark.run(args);
console.error(`${name}: done in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
console.log(JSON.stringify({ benchmark: name, ...result }));
