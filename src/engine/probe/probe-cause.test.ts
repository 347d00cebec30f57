import { expect, test } from "vitest";
import { causeOf } from "./probe-cause.ts";

test.each([
  [
    "both ends of a connection, as Go names them",
    "read tcp 127.0.0.1:54321->10.0.0.1:9090: read: connection reset by peer",
    "read tcp 10.0.0.1:9090: read: connection reset by peer",
  ],
  [
    "a local port below the ephemeral range",
    "write tcp 10.0.0.7:1023->10.0.0.1:9090: broken pipe",
    "write tcp 10.0.0.1:9090: broken pipe",
  ],
  [
    "IPv6",
    "read tcp [fd00::7%eth0]:40000->[fd00::1]:9090: read: connection reset by peer",
    "read tcp [fd00::1]:9090: read: connection reset by peer",
  ],
  [
    "several connections",
    "lookup a on 10.96.0.10:53: read udp 10.244.0.3:40000->10.96.0.10:53: i/o timeout",
    "lookup a on 10.96.0.10:53: read udp 10.96.0.10:53: i/o timeout",
  ],
  [
    "the local end as Node adds it",
    "connect EADDRNOTAVAIL 10.0.0.1:9090 - Local (10.0.0.7:54321)",
    "connect EADDRNOTAVAIL 10.0.0.1:9090",
  ],
  ["an ephemeral port alone", "reset by 10.0.0.9:61000", "reset by 10.0.0.9"],
  ["the number of a stream", "stream error: stream ID 37; INTERNAL_ERROR", "stream error: stream; INTERNAL_ERROR"],
  ["the pod's own port stays", "dial tcp 10.0.0.1:9090: i/o timeout", "dial tcp 10.0.0.1:9090: i/o timeout"],
  ["plain text", "\u001b[2Jrefused\u202e", "refused\ufffd"],
  ["one line", " connection\n\t refused ", "connection refused"],
])("%s", (_, text, want) => {
  expect(causeOf(new Error(text))).toBe(want);
});

test("two connections that fail the same way give the same cause", () => {
  const causes = [32_768, 40_001, 65_535, 1_024].map((port) =>
    causeOf(new Error(`read tcp 10.0.0.7:${port}->10.0.0.1:9090: read: connection reset by peer`)),
  );
  expect(new Set(causes).size).toBe(1);
});

test("at most 300 characters", () => {
  const cause = causeOf(new Error("x".repeat(1_000)));
  expect(cause).toHaveLength(300);
  expect(cause.endsWith("...")).toBe(true);
});

test("what is not an error, or has no message", () => {
  expect(causeOf("gone")).toBe("gone");
  expect(causeOf(new AggregateError([]))).toBe("AggregateError");
});
