// Queries for one engine through one gateway on reused connections, as fast as responses arrive. Arguments: port,
// engine, connections, seconds. Prints one line of JSON.
import { connect, type Socket } from "node:net";

const [port = "", engine = "", connections = "", seconds = ""] = process.argv.slice(2);
const SQL = "SELECT 42";
const REQUEST = [
  "POST / HTTP/1.1",
  "host: gateway",
  `x-firebolt-engine: ${engine}`,
  `content-length: ${SQL.length}`,
  "",
  SQL,
].join("\r\n");

const latencies: number[] = [];
let failed = 0;
const until = performance.now() + Number(seconds) * 1_000;

/** One query after the other. The responses of the benchmark arrive in one packet. */
function load(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let began = performance.now();
    socket.on("data", (answer) => {
      latencies.push(performance.now() - began);
      if (!answer.subarray(0, 15).toString("latin1").startsWith("HTTP/1.1 200")) failed += 1;
      if (performance.now() >= until) {
        socket.destroy();
        resolve();
        return;
      }
      began = performance.now();
      socket.write(REQUEST);
    });
    socket.once("error", reject);
    socket.once("close", () => resolve());
    socket.write(REQUEST);
  });
}

const sockets = Array.from({ length: Number(connections) }, () =>
  connect({ host: "127.0.0.1", port: Number(port), noDelay: true }),
);
const startedMs = performance.now();
await Promise.all(sockets.map(load));
const elapsedMs = performance.now() - startedMs;
latencies.sort((a, b) => a - b);
const quantile = (q: number): number =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * q))] ?? 0;
process.stdout.write(
  `${JSON.stringify({ requests: latencies.length, failed, elapsedMs, p50Ms: quantile(0.5), p99Ms: quantile(0.99) })}\n`,
);
