// The access log: one line of text per client request on standard output. Flags and details tell an answer made by Envoy (the
// query ran nowhere) from one made by an engine.

const FIELDS = [
  "[%START_TIME%]",
  '"%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%"',
  "%RESPONSE_CODE%",
  "flags=%RESPONSE_FLAGS%",
  "details=%RESPONSE_CODE_DETAILS%",
  "tx_fail=%UPSTREAM_TRANSPORT_FAILURE_REASON%",
  "upstream=%UPSTREAM_HOST%",
  "cluster=%UPSTREAM_CLUSTER%",
  "duration=%DURATION%ms",
  "rx=%BYTES_RECEIVED%",
  "tx=%BYTES_SENT%",
  "authority=%REQ(:AUTHORITY)%",
  "engine=%REQ(X-FIREBOLT-ENGINE)%",
];

export const ACCESS_LOG_FORMAT = `${FIELDS.join(" ")}\n`;
