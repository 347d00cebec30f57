import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { REDACTED, redactObject } from "./redact.ts";
import { createScrubber, secretsOf } from "./scrub.ts";
import { createTar } from "./tar.ts";

describe("tar", () => {
  test("the system's tar reads it back", () => {
    const folder = mkdtempSync(join(tmpdir(), "tar-"));
    try {
      const long = `${"d".repeat(90)}/${"f".repeat(90)}.txt`;
      const files = [
        { path: "a.txt", content: "hello\n" },
        { path: "empty", content: "" },
        { path: "ü/block", content: "x".repeat(512) },
        { path: long, content: Buffer.from("long") },
      ];
      writeFileSync(join(folder, "x.tar"), createTar(files, Date.parse("2026-01-02T03:04:05Z")));
      execFileSync("tar", ["xf", "x.tar"], { cwd: folder });
      for (const { path, content } of files) expect(readFileSync(join(folder, path), "utf8")).toBe(content.toString());
      const listed = execFileSync("tar", ["tvf", "x.tar", "--utc"], { cwd: folder, encoding: "utf8" });
      expect(listed).toMatch(/-rw------- .* 6 2026-01-02 03:04.* a\.txt/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("a path that does not fit is refused", () => {
    expect(() => createTar([{ path: "x".repeat(300), content: "" }], 0)).toThrow("too long");
  });
});

describe("objects lose their secrets and keep their shape", () => {
  test("Secret and ConfigMap: only names and keys", () => {
    const secret = {
      kind: "Secret",
      metadata: { name: "s", managedFields: [] },
      type: "Opaque",
      data: { a: "eA==" },
      stringData: { b: "y" },
    };
    expect(redactObject(secret)).toEqual({ kind: "Secret", metadata: { name: "s" }, type: "Opaque", keys: ["a", "b"] });
    expect(redactObject({ kind: "ConfigMap", data: { f: "x" } })).toEqual({ kind: "ConfigMap", keys: ["f"] });
  });

  test("variables, engine configuration, arguments and annotations, however deep", () => {
    const redacted = redactObject({
      kind: "FireboltEngine",
      metadata: {
        annotations: {
          "kubectl.kubernetes.io/last-applied-configuration": "{}",
          "example.com/token": "t",
          "example.com/team": "data",
        },
      },
      spec: {
        customEngineConfig: { storage: { bucket: "b", retries: 3, list: ["x"] } },
        template: {
          spec: {
            containers: [
              {
                name: "side",
                env: [
                  { name: "A", value: "v" },
                  { name: "B", valueFrom: { secretKeyRef: { name: "s", key: "k" } } },
                ],
                args: ["--password=x", "--verbose"],
              },
            ],
          },
        },
      },
    });
    expect(redacted).toEqual({
      kind: "FireboltEngine",
      metadata: { annotations: { "example.com/token": REDACTED, "example.com/team": "data" } },
      spec: {
        customEngineConfig: { storage: { bucket: REDACTED, retries: REDACTED, list: [REDACTED] } },
        template: {
          spec: {
            containers: [
              {
                name: "side",
                env: [
                  { name: "A", value: REDACTED },
                  { name: "B", valueFrom: { secretKeyRef: { name: "s", key: "k" } } },
                ],
                args: [`--password=${REDACTED}`, "--verbose"],
              },
            ],
          },
        },
      },
    });
  });
});

describe("texts", () => {
  test("known values go, the longest first, short ones stay", () => {
    const scrub = createScrubber(["secret-value", "secret-value-longer", "abc"]);
    expect(scrub("x secret-value-longer y secret-value z abc")).toBe(`x ${REDACTED} y ${REDACTED} z abc`);
  });

  test.each([
    ["Authorization: Bearer abcdef0123456789", "abcdef0123456789"],
    ["token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl end", "eyJhbGciOiJIUzI1NiJ9"],
    ["postgres://user:hunter2@db/x", "hunter2"],
    ['{"password": "p4ss"}', "p4ss"],
    ["api_key=k123 next", "k123"],
    ["key AKIAABCDEFGHIJKLMNOP", "AKIAABCDEFGHIJKLMNOP"],
    ["-----BEGIN EC PRIVATE KEY-----\nMHcCAQ\n-----END EC PRIVATE KEY-----", "MHcCAQ"],
  ])("%s", (text, secret) => expect(createScrubber([])(text)).not.toContain(secret));

  test("ordinary log lines stay as they are", () => {
    const line = '{"level":"info","msg":"query done","rows":12,"token_count":3}';
    expect(createScrubber([])(line)).toBe(line);
  });

  test("the secrets of objects: data in both forms, lines of files, variables, configuration", () => {
    const data = { pem: Buffer.from("line one\nline two").toString("base64") };
    expect(secretsOf({ kind: "Secret", data })).toEqual(
      expect.arrayContaining(["line one\nline two", "line one", "line two", data.pem]),
    );
    const pod = { kind: "Pod", spec: { containers: [{ env: [{ name: "A", value: "v" }] }] } };
    expect(secretsOf(pod)).toEqual(["v"]);
    expect(secretsOf({ spec: { customEngineConfig: { a: { b: "c" } } } })).toEqual(["c"]);
  });
});
