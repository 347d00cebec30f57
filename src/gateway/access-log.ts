// The access log: one line per client request on standard output. Flags and details distinguish a response of Envoy's
// own (the query reached no engine) from that of an engine. Values from clients are truncated, and of the query string
// only the query's label is logged: settings and parameters may hold credentials. The label comes from routing.lua and
// not from Envoy's own `QUERY_PARAM`, which decodes it, line breaks included: a client could write log lines of its
// own.
import { WAKE_HEADERS } from "../api/wake-protocol.ts";
import { extension } from "./envoy-types.ts";

const FIELDS = [
  "[%START_TIME%]",
  '"%REQ(:METHOD):16% %PATH(NQ:PATH):256% %PROTOCOL%"',
  "%RESPONSE_CODE%",
  "flags=%RESPONSE_FLAGS%",
  "details=%RESPONSE_CODE_DETAILS%",
  "tx_fail=%UPSTREAM_TRANSPORT_FAILURE_REASON%",
  "upstream=%UPSTREAM_HOST%",
  "cluster=%UPSTREAM_CLUSTER%",
  "duration=%DURATION%ms",
  "rx=%BYTES_RECEIVED%",
  "tx=%BYTES_SENT%",
  "authority=%REQ(:AUTHORITY):256%",
  "client=%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%",
  "request_id=%REQ(X-REQUEST-ID):64%",
  "query_label=%DYNAMIC_METADATA(envoy.filters.http.lua:query_label):128%",
  `engine=%REQ(${WAKE_HEADERS.engine.toUpperCase()}):64%`,
];

const FORMAT = `${FIELDS.join(" ")}\n`;

/** Which requests are logged: every one, or those that failed and a sample of the others. */
export type AccessLogMode = "all" | "errors";

const FIRST_ERROR_STATUS = 400;
const SAMPLE_PERCENT = 1;

/** Envoy requires names by which both could be changed at run time; nothing here sets them. */
const ERRORS_AND_SAMPLE = {
  or_filter: {
    filters: [
      {
        status_code_filter: {
          comparison: {
            op: "GE",
            value: { default_value: FIRST_ERROR_STATUS, runtime_key: "access_log.first_error_status" },
          },
        },
      },
      {
        runtime_filter: {
          runtime_key: "access_log.sample",
          percent_sampled: { numerator: SAMPLE_PERCENT, denominator: "HUNDRED" },
        },
      },
    ],
  },
} as const;

export function renderAccessLog(mode: AccessLogMode) {
  return {
    name: "envoy.access_loggers.stdout",
    ...(mode === "all" ? {} : { filter: ERRORS_AND_SAMPLE }),
    typed_config: extension("access_loggers.stream.v3.StdoutAccessLog", {
      log_format: { text_format_source: { inline_string: FORMAT } },
    }),
  };
}
