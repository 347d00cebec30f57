// The parts of a message that differ each time the same thing happens: times, ids, addresses, counters. Each pattern
// matches a bounded length, so that matching takes linear time. Pure.

export type Replacement = readonly [RegExp, string | ((match: string, ...groups: string[]) => string)];

const MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)";
const CLOCK = String.raw`\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?(?![\d:])`;
const IPV4 = String.raw`\d{1,3}(?:\.\d{1,3}){3}`;
const IPV6 = String.raw`(?:[0-9a-f]{1,4})?(?::[0-9a-f]{0,4}){2,7}(?:%\w+)?`;
const IP = String.raw`(?:${IPV4}|\[${IPV6}\])`;
/** Where the ephemeral ports of Linux begin. */
const FIRST_EPHEMERAL_PORT = 32_768;

const TIMES: readonly Replacement[] = [
  // The header of klog: severity, date, time, thread.
  [new RegExp(String.raw`\b[IWEF]\d{4} ${CLOCK}\s+\d+ `, "g"), ""],
  [new RegExp(String.raw`\b\d{4}([-/.])\d\d\1\d\d(?:[T ]${CLOCK})?`, "g"), ""],
  [new RegExp(String.raw`\b\d{1,2}/${MONTH}/\d{4}(?::${CLOCK})?`, "g"), ""],
  [
    new RegExp(
      String.raw`\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:${MONTH} +\d{1,2}|\d{1,2} ${MONTH}(?: \d{4})?),? ${CLOCK}(?: \d{4}\b)?`,
      "g",
    ),
    "",
  ],
  [new RegExp(String.raw`\b${CLOCK}`, "g"), ""],
  // Seconds, milliseconds, microseconds or nanoseconds since 1970, as of this century.
  [/(?<![\w.])1\d{9}(?:\d{3}|\d{6}|\d{9})?(?:\.\d+)?(?![\w.]*\d)/g, "<time>"],
  [/(?<![\w.])(?:\d+(?:\.\d+)?(?:ns|us|\u00b5s|ms|s|m|h|d))+\b/g, ""],
];

const IDS: readonly Replacement[] = [
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, "<id>"],
  [/\b0x[0-9a-f]+\b/gi, "0x"],
  [/\b[0-9a-f]{32,}\b/gi, ""],
  // Shorter ones only where they cannot be a word or a number.
  [/\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,31}\b/gi, "<id>"],
  [/\b(pid|tid|goroutine|stream ID)([ =:]+)\d+/gi, "$1"],
];

const ADDRESSES: readonly Replacement[] = [
  // Both ends of a connection, as Go names them: the first is the local one.
  [new RegExp(String.raw`${IP}:\d{1,5}->`, "gi"), ""],
  // The local end, as Node adds it.
  [/ - Local \([^)]*\)/g, ""],
  [new RegExp(String.raw`(?<![\w.:])(${IP})(?![\w.]*\d)`, "gi"), (_, ip: string) => hostText(ip)],
  [new RegExp(String.raw`(?<![\w:.>\]])(${IPV6})(?![\w:]|\.\d)`, "gi"), (_, ip: string) => hostText(ip)],
  [/(?<=[\w>\])]):(\d{5})\b/g, (end: string, port: string) => (Number(port) >= FIRST_EPHEMERAL_PORT ? "" : end)],
];

/** Loopback and unspecified addresses are the same on every node. */
function hostText(ip: string): string {
  return /^(?:127\.|0\.0\.0\.0$|\[?::1?\]?$)/.test(ip) ? ip : "<ip>";
}

/** Ids first: a part of one may look like a duration. For messages whose numbers mean something: what the API server and the scheduler return. */
export const VOLATILE: readonly Replacement[] = [...IDS, ...TIMES, ...ADDRESSES];

const UNIT = "(?:[KMGT]i?B?|bytes|B|%)";
/** The numbers behind these words name something that stays. */
const NAMED =
  "(?:ports?|code|status|HTTP|errno|error|exit|exited|signal|line|version|SQLSTATE|Linux|kernel|PostgreSQL)";

/** For the last log line of a process, which may contain counters. Numbers in names and versions are kept. */
export const COUNTED: readonly Replacement[] = [
  [/\b(?=(?:[a-z_]*\d){2})(?=\d*[a-z_])\w{16,}\b/gi, "<id>"],
  [new RegExp(String.raw`(?<![\w.])\d+(?:[.,]\d+)*(?= ?${UNIT}(?!\w))`, "g"), "<n>"],
  [/\b\d+\/\d+\b/g, "<n>/<n>"],
  [/(?<=\/proc\/)\d+/g, "<n>"],
  [
    /\b(attempt|retry|retries|try|tries|count|seq|request|thread|worker|session|offset)([ #=:]{1,3})\d+(?!\w)/gi,
    "$1$2<n>",
  ],
  [
    new RegExp(String.raw`(\b${NAMED}[ #=:"]{1,3})?(?<![\w./-]|[\w:>]:)\d+(?:[.,]\d+)*(?![\w/-]|[.:]\w)`, "gi"),
    (match: string, named: string | undefined) => (named === undefined ? "<n>" : match),
  ],
];
