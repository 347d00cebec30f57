// A local HTTPS server with its own certificate replaces the download site.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { download } from "./download.ts";
import type { Checksum } from "./pins.ts";

const CONTENT = "the archive";
const digestOf = (algorithm: "sha256" | "sha512") => createHash(algorithm).update(CONTENT).digest("hex");
const SHA512: Checksum = { algorithm: "sha512", digest: digestOf("sha512") };
const SHA256: Checksum = { algorithm: "sha256", digest: digestOf("sha256") };
const WRONG: Checksum = { algorithm: "sha256", digest: "0".repeat(64) };
const folder = mkdtempSync(join(tmpdir(), "download-test-"));
const authority = createAuthority("download");
let server: Server;
let base: string;

beforeAll(async () => {
  const pair = authority.issue({ commonName: "server", usages: ["server"], hosts: ["127.0.0.1"] });
  server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    if (request.url === "/moved") response.writeHead(302, { location: "/archive" }).end();
    else if (request.url === "/loop") response.writeHead(302, { location: "/loop" }).end();
    else if (request.url === "/plain") response.writeHead(302, { location: "http://127.0.0.1/archive" }).end();
    else if (request.url === "/archive") response.end(CONTENT);
    else if (request.url === "/cut")
      response.writeHead(200, { "content-length": 1000 }).write("half", () => response.destroy());
    else response.writeHead(404).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  base = `https://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const fetchTo = (name: string, path: string, checksum = SHA512) => {
  const output = join(folder, name);
  const lines: string[] = [];
  const progress = (line: string) => lines.push(line);
  const done = download({
    title: "archive",
    url: `${base}${path}`,
    checksum,
    output,
    progress,
    ca: authority.certificate,
  });
  return { output, lines, done };
};

test("a file with the pinned checksum arrives, over a redirect too, and its progress is reported", async () => {
  const { output, lines, done } = fetchTo("good", "/moved");
  await done;
  expect(readFileSync(output, "utf8")).toBe(CONTENT);
  expect(lines).toEqual([
    "downloading archive …",
    expect.stringMatching(/^downloading archive: done after \d+ s, 0 of \d+ MB$/),
  ]);
});

test("a SHA-256 checksum is accepted where a project publishes no other", async () => {
  const { output, done } = fetchTo("sha256", "/archive", SHA256);
  await done;
  expect(readFileSync(output, "utf8")).toBe(CONTENT);
});

test.each([
  {
    name: "another checksum",
    path: "/archive",
    checksum: WRONG,
    want: /sha256 checksum .* instead of the pinned 0000/,
  },
  { name: "a missing file", path: "/missing", want: /returned 404/ },
  { name: "an endless redirect", path: "/loop", want: /redirects more than 5 times/ },
  { name: "a redirect away from https", path: "/plain", want: /only https is accepted/ },
  { name: "a connection that is cut", path: "/cut", want: /aborted|premature|ECONNRESET/i },
])("$name is rejected and leaves no file", async ({ name, path, checksum, want }) => {
  const { output, done } = fetchTo(name, path, checksum);
  await expect(done).rejects.toThrow(want);
  expect(existsSync(output)).toBe(false);
});
