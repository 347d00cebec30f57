import { X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { silentLogger } from "../core/logger.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { createSelfSignedCertificate } from "./self-signed.ts";

const DAY_MS = 24 * 3_600_000;

test("a pair is available at once and is replaced after two thirds of its lifetime", async () => {
  const clock = new ManualClock();
  const source = createSelfSignedCertificate({
    hosts: ["localhost", "127.0.0.1"],
    clock,
    logger: silentLogger,
    lifetimeMs: 30 * DAY_MS,
  });
  expect(source.current).toBeUndefined();
  const stop = new AbortController();
  const shown: string[] = [];
  source.onPair(({ fingerprint }) => shown.push(fingerprint));
  const running = source.run(stop.signal);
  const pair = await source.whenLoaded(stop.signal);
  const certificate = new X509Certificate(pair.certificate);
  expect(certificate.checkHost("localhost")).toBe("localhost");
  expect(certificate.checkIP("127.0.0.1")).toBe("127.0.0.1");
  expect(pair.expiresMs).toBe(clock.now() + 30 * DAY_MS);
  await clock.advance(20 * DAY_MS - 1);
  expect(shown).toHaveLength(1);
  await clock.advance(1);
  expect(shown).toHaveLength(2);
  expect(source.current?.fingerprint).toBe(shown[1]);
  expect(shown[0]).not.toBe(shown[1]);
  stop.abort();
  await running;
  expect(clock.pending).toBe(0);
});
