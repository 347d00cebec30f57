// Why a probe failed, as one short line that stays the same while the reason does. It ends up in a condition: a port
// that changes with every connection would make every probe a status write. Pure.
import { cutText, plainText } from "../../api/values/plain-text.ts";

const CAUSE_LIMIT = 300;

const IP = String.raw`(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.]+(?:%\w+)?\])`;
/** Go names both ends of a connection: `read tcp 10.0.0.7:54321->10.0.0.1:9090: …`. The first is the local one. */
const LOCAL_END = new RegExp(String.raw`${IP}:\d{1,5}->`, "g");
/** Node adds the local end to some errors: `connect EADDRNOTAVAIL 10.0.0.1:9090 - Local (10.0.0.7:54321)`. */
const LOCAL_NOTE = /\s*- Local \([^)]*\)/g;
const ANY_END = new RegExp(String.raw`(${IP}):(\d{1,5})\b`, "g");
/** HTTP/2 numbers its streams: `stream error: stream ID 37; INTERNAL_ERROR`. */
const STREAM_NUMBER = /\bstream ID \d+/g;
/** Where the ephemeral ports of Linux begin. */
const FIRST_EPHEMERAL_PORT = 32_768;

/** Marks a failure that permissions would end: the API server or the pod responded with 403. */
export const forbiddenIf = (isForbidden: boolean): { readonly isForbidden?: true } =>
  isForbidden ? { isForbidden } : {};

export function causeOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return shortened(withoutEphemerals(text));
}

function withoutEphemerals(text: string): string {
  return text
    .replaceAll(LOCAL_END, "")
    .replaceAll(LOCAL_NOTE, "")
    .replaceAll(ANY_END, (end, host: string, port: string) => (Number(port) >= FIRST_EPHEMERAL_PORT ? host : end))
    .replaceAll(STREAM_NUMBER, "stream");
}

function shortened(text: string): string {
  return cutText(plainText(text).replaceAll(/\s+/g, " ").trim(), CAUSE_LIMIT);
}
