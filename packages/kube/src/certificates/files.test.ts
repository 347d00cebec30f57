// Files on a real disk, replaced as the kubelet and as administrators replace them, with a manual clock.
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { silentLogger } from "../core/logger.ts";
import { createAuthority } from "../testing/authority.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { createCertificateFiles } from "./files.ts";
import type { CertificateSource } from "./serving-certificate.ts";

const authority = createAuthority("test");
const issue = () => authority.issue({ commonName: "server", usages: ["server"], hosts: ["localhost"] });
let folder: string;
let clock: ManualClock;
let stop: AbortController;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "certificate-files-"));
  clock = new ManualClock();
  stop = new AbortController();
});
afterEach(() => {
  stop.abort();
  rmSync(folder, { recursive: true, force: true });
});

function open(counts = { read: 0, failed: 0, loaded: 0 }): {
  source: CertificateSource;
  counts: typeof counts;
  ended: Promise<void>;
} {
  const observer = {
    read: () => void counts.read++,
    failed: () => void counts.failed++,
    loaded: () => void counts.loaded++,
  };
  const source = createCertificateFiles({
    folder,
    certificateName: "tls.crt",
    keyName: "tls.key",
    clock,
    logger: silentLogger,
    observer,
  });
  const ended = source.run(stop.signal);
  ended.catch(() => undefined);
  return { source, counts, ended };
}

function write(pair = issue(), into = folder): string {
  writeFileSync(join(into, "tls.crt"), pair.certificate);
  writeFileSync(join(into, "tls.key"), pair.key);
  return pair.certificate;
}

test("an existing pair is loaded at once; a replaced one at the next poll", async () => {
  const first = write();
  const { source, counts } = open();
  await clock.advance(0);
  expect(source.current?.certificate).toBe(first);
  const second = write();
  await clock.advance(10_000);
  expect(source.current?.certificate).toBe(second);
  expect(counts).toMatchObject({ failed: 0, loaded: 2 });
});

test("a pair that appears later is waited for, and listeners receive every new one", async () => {
  const { source, counts } = open();
  const seen: string[] = [];
  source.onPair(({ certificate }) => seen.push(certificate));
  await clock.advance(30_000);
  expect(source.current).toBeUndefined();
  const first = write();
  await clock.advance(500);
  expect(seen).toEqual([first]);
  expect(counts.failed).toBeGreaterThan(0);
});

test("without a pair for a minute it fails with the reason", async () => {
  const { ended } = open();
  await clock.advance(60_000);
  await expect(ended).rejects.toThrow(/no usable certificate in .* within 60 s: .*tls\.crt/);
});

test.each([
  { name: "nonsense", certificate: "nonsense", key: "nonsense" },
  { name: "an empty file", certificate: "", key: "" },
  { name: "the key of another certificate", certificate: issue().certificate, key: issue().key },
])("$name never replaces a good pair, and is counted", async ({ certificate, key }) => {
  const good = write();
  const { source, counts } = open();
  await clock.advance(0);
  write({ certificate, key });
  await clock.advance(20_000);
  expect(source.current?.certificate).toBe(good);
  expect(counts.failed).toBeGreaterThan(0);
  const better = write();
  await clock.advance(10_000);
  expect(source.current?.certificate).toBe(better);
});

test("a mounted Secret replaced by moving a symbolic link is detected before the next poll", async () => {
  const version = (name: string): string => {
    mkdirSync(join(folder, name));
    return write(issue(), join(folder, name));
  };
  version("..1");
  symlinkSync("..1", join(folder, "..data"));
  for (const file of ["tls.crt", "tls.key"]) symlinkSync(join("..data", file), join(folder, file));
  const { source } = open();
  await clock.advance(0);
  const changed = Promise.withResolvers<void>();
  const second = version("..2");
  source.onPair(({ certificate }) => certificate === second && changed.resolve());
  symlinkSync("..2", join(folder, "..data_tmp"));
  renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
  // The clock does not advance: only the watch on the folder can detect the change.
  await changed.promise;
  expect(source.current?.certificate).toBe(second);
});
