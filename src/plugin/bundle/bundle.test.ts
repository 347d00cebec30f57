import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { secretNamesIn } from "./collect.ts";
import { secretsOf } from "./known-secrets.ts";
import { redactObject } from "./redact.ts";
import { REDACTED } from "./redacted.ts";
import { createScrubber } from "./scrub.ts";
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

  test("a path that is too long is rejected", () => {
    expect(() => createTar([{ path: "x".repeat(300), content: "" }], 0)).toThrow("too long");
  });
});

const scrubber = createScrubber([]);
const redacted = (object: object): unknown => redactObject(object, scrubber);

describe("objects lose their secrets and keep their shape", () => {
  test("Secret and ConfigMap: only names and keys", () => {
    const secret = {
      kind: "Secret",
      metadata: { name: "s", managedFields: [] },
      type: "Opaque",
      data: { a: "eA==" },
      stringData: { b: "y" },
    };
    expect(redacted(secret)).toEqual({ kind: "Secret", metadata: { name: "s" }, type: "Opaque", keys: ["a", "b"] });
    expect(redacted({ kind: "ConfigMap", data: { f: "x" } })).toEqual({ kind: "ConfigMap", keys: ["f"] });
  });

  test("variables, engine configuration, arguments and annotations, however deep", () => {
    const engine = redacted({
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
    expect(engine).toEqual({
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

  test("a Secret keeps names, labels and keys, and no annotation", () => {
    const secret = {
      kind: "Secret",
      metadata: { name: "s", labels: { a: "b" }, annotations: { "example.com/note": "anything" }, uid: "u" },
      type: "Opaque",
      data: { password: "eA==" },
    };
    expect(redacted(secret)).toEqual({
      kind: "Secret",
      metadata: { name: "s", labels: { a: "b" } },
      type: "Opaque",
      keys: ["password"],
    });
  });

  test.each<{ name: string; object: object; want: object }>([
    {
      name: "a flag and its value as two arguments",
      object: { args: ["--user", "bob", "--password", "hidden-1", "--verbose", "-api-key", "hidden-2"] },
      want: { args: ["--user", "bob", "--password", REDACTED, "--verbose", "-api-key", REDACTED] },
    },
    {
      name: "a flag without a value before another flag",
      object: { args: ["--password-from-stdin", "--level=3"] },
      want: { args: ["--password-from-stdin", "--level=3"] },
    },
    {
      name: "a shell command in one argument",
      object: { command: ["sh", "-c", "curl -H 'X-Api-Key: hidden-3' http://metadata:80/ && echo done"] },
      want: { command: ["sh", "-c", `curl -H 'X-Api-Key: ${REDACTED}' http://metadata:80/ && echo done`] },
    },
    {
      name: "headers of probes",
      object: {
        livenessProbe: { httpGet: { path: "/live", httpHeaders: [{ name: "X-Api-Key", value: "hidden-4" }] } },
      },
      want: { livenessProbe: { httpGet: { path: "/live", httpHeaders: [{ name: "X-Api-Key", value: REDACTED }] } } },
    },
    {
      name: "parameters of probes",
      object: { httpGet: { path: "/ready?token=hidden-5&engine=adhoc" } },
      want: { httpGet: { path: `/ready?token=${REDACTED}&engine=adhoc` } },
    },
    {
      name: "fields, pairs and maps with telling names",
      object: {
        connection: { adminPassword: "hidden-6", host: "db" },
        extra: [{ name: "client_secret", value: "hidden-7" }],
        csi: { driver: "d", volumeAttributes: { share: "s", accountKey: "hidden-8" } },
      },
      want: {
        connection: { adminPassword: REDACTED, host: "db" },
        extra: [{ name: "client_secret", value: REDACTED }],
        csi: { driver: "d", volumeAttributes: { share: "s", accountKey: REDACTED } },
      },
    },
    {
      name: "manifests that tools keep in annotations",
      object: { metadata: { annotations: { "tool.example.com/original": '{"kind":"X","spec":{"a":"hidden-9"}}' } } },
      want: { metadata: { annotations: { "tool.example.com/original": REDACTED } } },
    },
    {
      name: "messages",
      object: {
        status: { conditions: [{ type: "Ready", message: "dial postgres://fb:hidden-10@db:5432/x: refused" }] },
      },
      want: {
        status: { conditions: [{ type: "Ready", message: `dial postgres://fb:${REDACTED}@db:5432/x: refused` }] },
      },
    },
  ])("$name", ({ object, want }) => {
    expect(redacted(object)).toEqual(want);
    expect(JSON.stringify(redacted(object))).not.toContain("hidden");
  });

  test("useful fields are kept: references, selectors, tolerations, images", () => {
    const pod = {
      kind: "Pod",
      metadata: { name: "token-service", labels: { "firebolt.io/engine": "adhoc" } },
      spec: {
        automountServiceAccountToken: false,
        imagePullSecrets: [{ name: "registry" }],
        tolerations: [{ key: "node.kubernetes.io/not-ready", operator: "Exists" }],
        volumes: [{ name: "v", secret: { secretName: "lake-tls", items: [{ key: "tls.key", path: "tls.key" }] } }],
        containers: [
          {
            name: "c",
            image: "registry.example.com/token-service:1.2",
            args: ["--level=debug", "--port", "8080"],
            env: [{ name: "P", valueFrom: { secretKeyRef: { name: "s", key: "password" } } }],
          },
        ],
      },
      status: { phase: "Pending", reason: "Unschedulable", message: 'secret "lake-tls" not found' },
    };
    expect(redacted(pod)).toEqual(pod);
  });
});

test("the secrets of objects: data in both forms, lines of files, variables, headers, configuration", () => {
  const data = { pem: Buffer.from("line one\nline two").toString("base64") };
  expect(secretsOf({ kind: "Secret", data })).toEqual(
    expect.arrayContaining(["line one\nline two", "line one", "line two", data.pem]),
  );
  const pod = { kind: "Pod", spec: { containers: [{ env: [{ name: "A", value: "v" }] }] } };
  expect(secretsOf(pod)).toEqual(["v"]);
  expect(secretsOf({ spec: { customEngineConfig: { a: { b: "c" } } } })).toEqual(["c"]);
});

test("the Secrets that a spec refers to, in every form of a reference", () => {
  const spec = {
    metadata: { postgres: { credentialsSecretRef: { name: "a" } } },
    template: {
      spec: {
        imagePullSecrets: [{ name: "b" }],
        volumes: [{ secret: { secretName: "c" } }, { configMap: { name: "not-one" } }],
        containers: [
          {
            name: "engine",
            envFrom: [{ secretRef: { name: "d" } }],
            env: [{ valueFrom: { secretKeyRef: { name: "e", key: "k" } } }],
          },
        ],
      },
    },
  };
  expect(secretNamesIn(spec)).toEqual(["a", "b", "c", "d", "e"]);
});

test.each([
  { args: ["--password", "-Hidden1", "--level=debug"], want: ["--password", REDACTED, "--level=debug"] },
  { args: ["-p", "hidden", "--level=debug"], want: ["-p", REDACTED, "--level=debug"] },
  { args: ["-p", "8080"], want: ["-p", "8080"] },
  { args: ["mkdir", "-p", "/var/lib/data"], want: ["mkdir", "-p", "/var/lib/data"] },
  { args: ["-u", "admin:hidden"], want: ["-u", `admin:${REDACTED}`] },
  { args: ["--token", "--level=debug"], want: ["--token", "--level=debug"] },
])("the argument after a flag for a secret is removed: $args", ({ args, want }) => {
  expect(redactObject({ kind: "Pod", spec: { args } }, createScrubber([]))).toEqual({
    kind: "Pod",
    spec: { args: want },
  });
});
