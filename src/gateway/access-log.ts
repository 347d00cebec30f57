// The access log: one line per client request on standard output. Flags and details distinguish a response of Envoy's
// own (the query reached no engine) from that of an engine. Values from clients are truncated, and of the query string
// only the query's label is logged: settings and parameters may hold credentials. The label comes from routing.lua and
// not from Envoy's own `QUERY_PARAM`, which decodes it, line breaks included: a client could write log lines of its
// own.
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
