import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FrameReader, frame } from "./grpc-frames.ts";
import { decodeRequest, encodeResponse, RESOURCE_TYPES } from "./messages.ts";
import { bytesField, integerField, MalformedMessage, messageField, readFields, textField, textOf } from "./protobuf.ts";

const orMalformed = <T>(read: () => T): T | "malformed" => {
  try {
    return read();
  } catch (error) {
    if (error instanceof MalformedMessage) return "malformed";
    throw error;
  }
};

describe("fields", () => {
  test("are the bytes that the protobuf documentation shows", () => {
    expect(integerField(1, 150).toString("hex")).toBe("089601");
    expect(textField(2, "testing").toString("hex")).toBe("120774657374696e67");
    expect(messageField(3, integerField(1, 150)).toString("hex")).toBe("1a03089601");
    expect(textField(36, "").toString("hex")).toBe("a20200");
  });

  test("read back as they were written", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            field: fc.integer({ min: 1, max: 536_870_911 }),
            value: fc.oneof(fc.maxSafeNat(), fc.string({ unit: "binary" })),
          }),
        ),
        (fields) => {
          const message = Buffer.concat(
            fields.map(({ field, value }) =>
              typeof value === "number" ? integerField(field, value) : textField(field, value),
            ),
          );
          const read = [...readFields(message)].map((one) => ({
            field: one.field,
            value: one.number ?? textOf(one),
          }));
          expect(read).toEqual(fields);
        },
      ),
    );
  });

  test.each([
    ["a number that ends early", "08ff"],
    ["a number of eleven bytes", `08${"ff".repeat(10)}01`],
    ["a length beyond the message", "1205aa"],
    ["a length of exabytes", "12ffffffffffffffff7f"],
    ["a group", "0b"],
    ["field number 0", "0001"],
    ["a fixed field that ends early", "0d0000"],
  ])("%s is malformed", (_, hex) => {
    expect(() => [...readFields(Buffer.from(hex, "hex"))]).toThrow(MalformedMessage);
  });

  test("fields of fixed size are passed over", () => {
    const message = Buffer.concat([Buffer.from("09000000000000000015000000001801".slice(0, 32), "hex")]);
    expect([...readFields(message)]).toEqual([{ field: 3, number: 1 }]);
  });

  test("a number below zero is not written", () => {
    expect(() => integerField(1, -1)).toThrow(RangeError);
  });
});

describe("requests", () => {
  const entry = (key: string, value: string) => messageField(5, textField(1, key), textField(2, value));

  test("are decoded, unknown fields aside", () => {
    const request = Buffer.concat([
      messageField(1, textField(1, "node")),
      textField(2, RESOURCE_TYPES.cluster),
      textField(3, "*"),
      textField(3, "a"),
      textField(4, "b"),
      entry("a", "1"),
      entry("c", "2"),
      textField(6, "7"),
      messageField(7, integerField(1, 13), textField(2, "no such type")),
      integerField(99, 1),
    ]);
    expect(decodeRequest(request)).toEqual({
      typeUrl: RESOURCE_TYPES.cluster,
      subscribe: ["*", "a"],
      unsubscribe: ["b"],
      initialVersions: new Map([
        ["a", "1"],
        ["c", "2"],
      ]),
      nonce: "7",
      error: "no such type",
    });
  });

  test("text that is not UTF-8, and numbers in place of text, are malformed", () => {
    expect(() => decodeRequest(bytesField(2, Buffer.from([0xff, 0xfe])))).toThrow(MalformedMessage);
    expect(() => decodeRequest(integerField(2, 1))).toThrow(MalformedMessage);
    expect(() => decodeRequest(integerField(7, 1))).toThrow(MalformedMessage);
  });

  test("arbitrary bytes are a request or malformed, never another error", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 400 }),
        (bytes) => void orMalformed(() => decodeRequest(Buffer.from(bytes))),
      ),
      { numRuns: 2_000 },
    );
  });

  test("a request with any bytes changed is a request or malformed", () => {
    const whole = Buffer.concat([textField(2, RESOURCE_TYPES.endpoints), entry("a", "1"), textField(6, "1")]);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 6 }), (changes) => {
        const bytes = Buffer.from(whole);
        for (const [at, value] of changes) bytes[at] = value;
        orMalformed(() => decodeRequest(bytes));
      }),
      { numRuns: 2_000 },
    );
  });
});

test("a response names its type, its nonce and one resource", () => {
  const resource = { version: "v", body: Buffer.from("body") };
  const fields = [...readFields(encodeResponse({ kind: "cluster", nonce: "3", name: "e", resource }))];
  expect(fields.map(({ field }) => field)).toEqual([2, 4, 5]);
  const removed = [...readFields(encodeResponse({ kind: "cluster", nonce: "4", name: "e", resource: undefined }))];
  expect(removed.map((field) => [field.field, textOf(field)])).toEqual([
    [6, "e"],
    [4, RESOURCE_TYPES.cluster],
    [5, "4"],
  ]);
});

describe("frames", () => {
  test("are found however the bytes are cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        (messages, cuts) => {
          const bytes = Buffer.concat(messages.map((message) => frame(Buffer.from(message))));
          const reader = new FrameReader(64);
          const found: Buffer[] = [];
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const size = cuts[turn % cuts.length] ?? 1;
            found.push(...reader.read(bytes.subarray(at, at + size)));
            at += size;
          }
          expect(found.map((one) => [...one])).toEqual(messages.map((one) => [...one]));
        },
      ),
    );
  });

  test("a message that is too long, or compressed, is malformed before it has arrived", () => {
    expect(() => new FrameReader(10).read(Buffer.from("000000000b", "hex"))).toThrow(/11 bytes/);
    expect(() => new FrameReader(10).read(Buffer.from("0100000001", "hex"))).toThrow(MalformedMessage);
  });

  test("arbitrary bytes keep no more than one message and its prefix", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 30 }), { maxLength: 30 }), (chunks) => {
        const reader = new FrameReader(64);
        orMalformed(() => {
          for (const chunk of chunks)
            for (const message of reader.read(Buffer.from(chunk))) expect(message.length).toBeLessThanOrEqual(64);
        });
      }),
    );
  });
});
