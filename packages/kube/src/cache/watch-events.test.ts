import { describe, expect, test } from "vitest";
import { CONFIG_MAPS, type ConfigMap, configMap, entry, shapeConfigMap } from "../../test/support/cache-fixtures.ts";
import type { WatchEvent } from "../client/client.ts";
import { KubeApiError } from "../core/errors.ts";
import { MalformedObjectError } from "./stored-object.ts";
import { decodeEvent, eventStream } from "./watch-events.ts";

const decode = (event: WatchEvent<ConfigMap>) => decodeEvent(event, shapeConfigMap);

describe("decoding", () => {
  test("changes", () => {
    expect(decode({ type: "ADDED", object: configMap("ns/a", 1) })).toEqual({ type: "put", entry: entry("ns/a", 1) });
    expect(decode({ type: "MODIFIED", object: configMap("ns/a", 2) })).toEqual({
      type: "put",
      entry: entry("ns/a", 2),
    });
    expect(decode({ type: "DELETED", object: configMap("ns/a", 3) })).toEqual({
      type: "remove",
      entry: entry("ns/a", 3),
    });
  });

  test("bookmarks, and the one that completes the initial state", () => {
    const end = { resourceVersion: "7", annotations: { "k8s.io/initial-events-end": "true" } };
    expect(decode({ type: "BOOKMARK", object: { metadata: { resourceVersion: "7" } } })).toEqual({
      type: "bookmark",
      version: "7",
      initialEnd: false,
    });
    expect(decode({ type: "BOOKMARK", object: { metadata: end } })).toMatchObject({ initialEnd: true });
  });

  test("an error event becomes a KubeApiError with its status", () => {
    const status = { ...CONFIG_MAPS, kind: "Status", code: 410, reason: "Expired", message: "too old" };
    const refused = (): unknown => decode({ type: "ERROR", object: status });
    expect(refused).toThrow(KubeApiError);
    expect(refused).toThrow(expect.objectContaining({ status: 410, reason: "Expired" }));
  });

  test.each([
    ["a bookmark without a resourceVersion", { type: "BOOKMARK", object: {} }],
    ["an error without a status", { type: "ERROR", object: {} }],
    ["an object without a name", { type: "ADDED", object: { metadata: { resourceVersion: "1" } } }],
  ] as const)("%s is refused", (_, event) => {
    expect(() => decode(event)).toThrow(MalformedObjectError);
  });
});

describe("a connection", () => {
  async function* endless(onEnd: () => void): AsyncGenerator<WatchEvent<ConfigMap>> {
    try {
      for (let version = 1; ; version += 1) yield { type: "ADDED", object: configMap("ns/a", version) };
    } finally {
      onEnd();
    }
  }

  test("is released when closed", async () => {
    let ended = false;
    const connection = new AbortController();
    const stream = eventStream(
      endless(() => {
        ended = true;
      }),
      shapeConfigMap,
      connection,
    );
    expect(await stream.next()).toMatchObject({ type: "put" });
    await stream.close();
    expect([ended, connection.signal.aborted]).toEqual([true, true]);
  });

  test("that was aborted does not reject when closed", async () => {
    const connection = new AbortController();
    const stream = eventStream(
      endless(() => connection.signal.throwIfAborted()),
      shapeConfigMap,
      connection,
    );
    await stream.next();
    connection.abort(new Error("stopping"));
    await expect(stream.close()).resolves.toBeUndefined();
  });
});
