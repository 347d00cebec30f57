// The query port of every simulated pod in the wake benchmark: one fixed response to every request, as fast as
// possible.
import { createServer } from "node:net";

const BODY = '{"data":[[42]],"rows":1}';
const RESPONSE = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;

const server = createServer({ noDelay: true }, (socket) => {
  // Every request of the benchmark fits into one packet.
  socket.on("data", () => socket.write(RESPONSE));
  // A gateway that closes the connection is expected.
  socket.on("error", () => socket.destroy());
});
server.listen({ port: 3473, host: "0.0.0.0", backlog: 4_096 }, () => process.stdout.write("ready\n"));
