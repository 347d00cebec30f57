// The access log: one line of text per client request on standard output. Flags and details tell an answer made by Envoy (the
// query ran nowhere) from one made by an engine. Nothing of what a caller writes is logged at any length, and of the query string only the
// query's own label: settings and parameters may hold credentials. The label comes from routing.lua and not from Envoy's own
// `QUERY_PARAM`, which decodes it, line breaks included: a caller could write lines of its own.
import { WAKE_HEADERS } from "../api/wake-protocol.ts";

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

export const ACCESS_LOG_FORMAT = `${FIELDS.join(" ")}\n`;
