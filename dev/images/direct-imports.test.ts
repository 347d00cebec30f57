import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { directImports, readEntries, withDirectImports } from "./direct-imports.ts";

const ROOT = join(import.meta.dirname, "../..");
const entries = new Map([
  ["pack/client", { file: "/pack/client/index.ts", modules: new Map([["open", "/pack/client/open.ts"]]) }],
]);

test.each([
  {
    name: "a name is imported from the module that defines it",
    source: 'import { open } from "pack/client";',
    want: 'import { open } from "/pack/client/open.ts";',
  },
  {
    name: "a name that the entry defines itself stays with the entry",
    source: 'import { open as it, own } from "pack/client";',
    want: 'import { open as it } from "/pack/client/open.ts"; import { own } from "/pack/client/index.ts";',
  },
  { name: "types need no import", source: 'import { type Client } from "pack/client";\nx();', want: "\nx();" },
  {
    name: "re-exports are led on as well",
    source: 'export { open } from "pack/client";',
    want: 'export { open } from "/pack/client/open.ts";',
  },
  {
    name: "lines stay where they are",
    source: 'import {\n  open,\n  type Client,\n} from "pack/client";\nopen();',
    want: 'import { open } from "/pack/client/open.ts";\n\n\n\nopen();',
  },
  {
    name: "other packages are left alone",
    source: 'import { parse } from "yaml";',
    want: 'import { parse } from "yaml";',
  },
])("$name", ({ source, want }) => {
  expect(withDirectImports(source, entries)).toBe(want);
});

test.each(["src/cli/main.ts", "src/plugin/main.ts"])(
  "the bundle of %s goes through no entry of the runtime",
  async (entry) => {
    const { metafile } = await build({
      absWorkingDir: ROOT,
      entryPoints: [entry],
      bundle: true,
      platform: "node",
      format: "esm",
      write: false,
      metafile: true,
      plugins: [directImports(ROOT)],
    });
    const barrels = [...readEntries(join(ROOT, "packages/kube")).values()].filter(({ modules }) => modules.size > 0);
    expect(barrels.length).toBeGreaterThan(8);
    const [output] = Object.values(metafile.outputs);
    const inside = Object.entries(output?.inputs ?? {}).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
    expect(inside.map(([file]) => file)).toContain("packages/kube/src/client/kube-client.ts");
    expect(inside.filter(([file]) => barrels.some((one) => one.file === join(ROOT, file)))).toEqual([]);
  },
);
