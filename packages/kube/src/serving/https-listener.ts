// An HTTPS server that serves GET requests from a function, with a certificate that may change while it runs. It
// authenticates no client; the function does.
import type { CertificateSource } from "../certificates/serving-certificate.ts";
import { untilAborted } from "../core/until-aborted.ts";
import type { HttpListener, HttpListenerOptions } from "./http-listener.ts";
import { handleGet } from "./http-response.ts";
import { runTlsListener } from "./run-tls-listener.ts";
import { TlsListener } from "./tls-listener.ts";

export interface HttpsListenerOptions extends HttpListenerOptions {
  /** Run by the listener, for as long as the listener runs. */
  readonly certificate: CertificateSource;
  readonly http2?: boolean;
}

/** Requests in flight get this long when the server stops. */
const CLOSE_GRACE_MS = 500;

export function createHttpsListener(options: HttpsListenerOptions): HttpListener {
  const { certificate, logger, host, port, http2 = false } = options;
  const listening = Promise.withResolvers<void>();
  const listener = new TlsListener({
    port,
    http2,
    ...(host === undefined ? {} : { host }),
    // Bodies are ignored; an unread one would block its connection.
    respond: async (request) => {
      request.resume();
      return handleGet(request, options.respond, logger);
    },
  });
  const stop = (): Promise<void> => listener.stop(AbortSignal.timeout(CLOSE_GRACE_MS));
  return {
    get port() {
      return listener.port;
    },
    whenListening: (signal) => untilAborted(listening.promise, signal),
    async run(signal) {
      if (signal.aborted) return;
      await runTlsListener({ listener, certificate, onListening: listening.resolve, stop }, signal);
    },
  };
}
