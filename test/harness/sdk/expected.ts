// What each SDK makes of one value of every type, of parameters, and of errors: the type it reports and the value it hands out.
import { expect } from "vitest";
import type { Sdk } from "./sdk-clients.ts";

const SUM = 3_126_250;

const PYTHON = {
  types: {
    i: ["<class 'int'>", "1"],
    l: ["<class 'int'>", "9007199254740993"],
    f: ["<class 'float'>", "1.5"],
    d: ["<class 'float'>", "-inf"],
    n: ["Decimal(38, 9)", "Decimal('12345678901234567890.123456789')"],
    t: ["<class 'str'>", "'ä;x'"],
    dt: ["<class 'datetime.date'>", "datetime.date(2024, 2, 29)"],
    ts: ["<class 'datetime.datetime'>", "datetime.datetime(2024, 2, 29, 10, 11, 12, 500000)"],
    tz: [
      "<class 'datetime.datetime'>",
      "datetime.datetime(2024, 2, 29, 10, 11, 12, 500000, tzinfo=datetime.timezone.utc)",
    ],
    b: ["<class 'bool'>", "True"],
    x: ["<class 'bytes'>", "b'\\n\\xff'"],
    a: ["Array(<class 'int'>)", "[1, None, 3]"],
    s: ["Struct(a: <class 'int'>, b: <class 'str'>)", "{'a': 1, 'b': 'x'}"],
    g: ["<class 'str'>", "'0101000020E6100000'"],
    nl: ["<class 'int'>", "None"],
    nn: ["<class 'str'>", "None"],
  },
  parameters: [7, "it's", null, 2.5],
  "server-side parameters": [7, "it's"],
  "two statements": [[[1]], [[2]]],
  rows: 2_500,
  streamed: SUM,
  error: expect.stringMatching(/^FireboltStructuredError: .*near "SELEC": syntax error/),
  setting: expect.stringMatching(/^OperationalError: .*unknown setting no_such_setting/),
  after: 42,
  state: true,
};

const NPM = {
  types: {
    i: ["int", "1"],
    l: ["long", expect.stringContaining("BigNumber")],
    f: ["float", "1.5"],
    d: ["double", "-Infinity"],
    n: ["decimal", "'12345678901234567890.123456789'"],
    t: ["text", "'ä;x'"],
    dt: ["date", "2024-02-29T00:00:00.000Z"],
    ts: ["timestampntz", "2024-02-29T10:11:12.500Z"],
    tz: ["timestamptz", "2024-02-29T10:11:12.500Z"],
    b: ["boolean", "true"],
    x: ["bytea", "<Buffer 0a ff>"],
    a: ["array(int null)", "[ 1, null, 3 ]"],
    s: ["struct(a int, b text)", "{ a: 1, b: 'x' }"],
    g: ["geography", "'0101000020E6100000'"],
    nl: ["int null", "null"],
    nn: ["null", "null"],
  },
  parameters: [7, "it's", null, 2.5],
  "named parameters": [7],
  "rows by name": [{ a: 1, b: "x" }],
  streamed: SUM,
  error: expect.stringMatching(/^Error: 400 .*near .*SELEC.*: syntax error/),
  setting: expect.stringMatching(/^Error: 400 .*unknown setting no_such_setting/),
  after: 42,
};

/** What `checkWithSdk` returns, from this pod. */
export const expectedOf = (sdk: Sdk, pod: unknown): object => ({ ...(sdk === "python" ? PYTHON : NPM), pod });
