// Only bytes that have arrived take room; strangers leave half of it to known connections; nobody waits for ever.
import fc from "fast-check";
import { expect, test } from "vitest";
import { BodyRoom, type BodyShare } from "./body-room.ts";

const never = new AbortController().signal;

test("announcing takes nothing: any number of silent bodies leaves all the room to others", () => {
  const room = new BodyRoom(100);
  for (let index = 0; index < 1_000; index++) room.open("stranger");
  const body = room.open("stranger");
  expect([body.add(50), room.bytes]).toEqual([true, 50]);
});

test("strangers fill half of the room, known connections all of it", () => {
  const room = new BodyRoom(100);
  expect(room.open("stranger").add(50)).toBe(true);
  expect(room.open("stranger").add(1)).toBe(false);
  expect(room.open("known").add(49)).toBe(true);
  expect(room.open("known").add(2)).toBe(false);
});

test("a first piece each of many strangers does not reach into the half of known connections", () => {
  const room = new BodyRoom(100);
  for (let index = 0; index < 50; index++) room.open("stranger").add(10);
  const known = room.open("known");
  expect([known.add(50), known.add(1)]).toEqual([true, false]);
});

test("whoever waits goes on when room is given back, known connections first", async () => {
  const room = new BodyRoom(100);
  const holder = room.open("known");
  holder.add(100);
  const order: string[] = [];
  const wait = (name: string, share: BodyShare) => {
    expect(share.add(1)).toBe(false);
    return share.whenRoom(never).then(() => order.push(name));
  };
  const all = [wait("stranger", room.open("stranger")), wait("known", room.open("known"))];
  expect(room.waiting).toBe(2);
  holder.release();
  holder.release(); // Giving back twice counts once.
  await Promise.all(all);
  expect([order, room.bytes]).toEqual([["known", "stranger"], 2]);
});

test("a body larger than the room goes on alone, and of bodies that all wait one goes on", async () => {
  const room = new BodyRoom(10);
  const large = room.open("stranger");
  expect(large.add(500)).toBe(true);
  const other = room.open("stranger");
  expect(other.add(1)).toBe(false);
  const waiting = other.whenRoom(never);
  expect(large.add(1)).toBe(true);
  large.release();
  await waiting;
});

test("giving up rejects with the reason", async () => {
  const room = new BodyRoom(1);
  room.open("known").add(2);
  const share = room.open("known");
  share.add(1);
  const ending = new AbortController();
  const waiting = share.whenRoom(ending.signal);
  ending.abort(new Error("too late"));
  await expect(waiting).rejects.toThrow("too late");
  expect(room.waiting).toBe(0);
  await expect(share.whenRoom(AbortSignal.abort(new Error("never began")))).rejects.toThrow("never began");
});

test("at random: somebody can always go on, and in the end nothing is held", async () => {
  const standing = fc.constantFrom("known" as const, "stranger" as const);
  const chunks = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ standing, chunks }), { maxLength: 12 }), async (bodies) => {
      const room = new BodyRoom(60);
      const read = async (share: BodyShare, sizes: readonly number[]): Promise<void> => {
        for (const size of sizes) if (!share.add(size)) await share.whenRoom(never);
        share.release();
      };
      await Promise.all(bodies.map((body) => read(room.open(body.standing), body.chunks)));
      expect([room.bytes, room.waiting]).toEqual([0, 0]);
    }),
  );
});
