// The reader of examples/, and what every example promises to people who copy from it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXAMPLES, parseExample, readExampleFiles } from "./example-files.ts";

const OBJECT = "apiVersion: v1\nkind: Namespace\nmetadata: { name: a }\n";

describe("reading", () => {
  test("needs, in the order of the lines", () => {
    const header =
      "# needs: file b.yaml\n# needs: node-label a/b=c\n# needs: default-storage-class\n# needs: file c.yaml\n";
    expect(parseExample("a.yaml", header + OBJECT)).toEqual({
      file: "a.yaml",
      needs: { files: ["b.yaml", "c.yaml"], nodeLabels: { "a/b": "c" }, defaultStorageClass: true },
      objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "a" } }],
    });
  });

  test.each(["# needs: luck", "# needs: node-label gpu", "# needs: file", "# needs: default-storage-class fast"])(
    "%s is refused",
    (line) => {
      expect(() => parseExample("a.yaml", `${line}\n${OBJECT}`)).toThrow(
        `examples/a.yaml: nobody knows how to provide "${line}"`,
      );
    },
  );

  test("an empty document is refused", () => {
    expect(() => parseExample("a.yaml", `${OBJECT}---\n`)).toThrow("a document without");
  });
});

describe("the examples", () => {
  const examples = readExampleFiles();

  test("what a file needs comes before it", () => {
    const files = examples.map(({ file }) => file);
    expect(files).toContain("support/postgres.yaml");
    for (const { file, needs } of examples)
      for (const needed of needs.files)
        expect(files.indexOf(needed), `${needed} before ${file}`).toBeLessThan(files.indexOf(file));
  });

  test("no two files make the same object", () => {
    const keys = examples.flatMap(({ objects }) =>
      objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`),
    );
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("README.md lists every file once", () => {
    const readme = readFileSync(join(EXAMPLES, "README.md"), "utf8");
    const listed = [...readme.matchAll(/^\| \[([^\]]+\.yaml)\]\(\1\)/gm)].map(([, file]) => file);
    const own = examples.map(({ file }) => file).filter((file) => !file.startsWith("support/"));
    expect(listed.toSorted()).toEqual(own.toSorted());
  });

  test("nothing has to be bought or pulled from elsewhere: only images of support/ are named", () => {
    for (const { file, objects } of examples)
      if (!file.startsWith("support/")) expect(JSON.stringify(objects), file).not.toContain('"image"');
  });
});
