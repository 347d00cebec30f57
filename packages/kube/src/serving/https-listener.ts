// An HTTPS server on one address that answers GET from a function, with a certificate that may change while it runs. It checks
// nobody's identity: that is for the function to do.
import type { CertificateSource } from "../certificates/serving-certificate.ts";
import { untilAborted } from "../core/until-aborted.ts";
import { answerQuestion } from "./http-answer.ts";
import type { HttpListener, HttpListenerOptions } from "./http-listener.ts";
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
    // A body is nobody's wish; a connection with one would be stuck until it is read.
    answer: async (request) => {
      request.resume();
      return answerQuestion(request, options.answer, logger);
    },
  });

  const serve = async (signal: AbortSignal): Promise<void> => {
    const failed = Promise.withResolvers<never>();
    // Nobody may be waiting for it yet.
    failed.promise.catch(() => undefined);
    await listener.listen(await certificate.whenLoaded(signal), failed.reject);
    const unsubscribe = certificate.onPair((pair) => listener.replace(pair));
    listening.resolve();
    try {
      await untilAborted(failed.promise, signal);
    } finally {
      unsubscribe();
    }
  };

  return {
    get port() {
      return listener.port;
    },
    whenListening: (signal) => untilAborted(listening.promise, signal),
    async run(signal) {
      if (signal.aborted) return;
      const keeping = new AbortController();
      const kept = certificate.run(keeping.signal);
      try {
        await Promise.race([serve(signal), kept]);
      } catch (error) {
        if (!(signal.aborted && error === signal.reason)) throw error;
      } finally {
        await listener.stop(AbortSignal.timeout(CLOSE_GRACE_MS));
        keeping.abort();
        await kept;
      }
    },
  };
}
