// The query port of every simulated pod in the wake benchmark: one fixed answer to whatever comes, as fast as this can be.
import { createServer } from "node:net";

const BODY = '{"data":[[42]],"rows":1}';
const ANSWER = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;

const server = createServer({ noDelay: true }, (socket) => {
  // Every request of the benchmark fits into one packet.
  socket.on("data", () => socket.write(ANSWER));
  // A gateway that goes away is no news.
  socket.on("error", () => socket.destroy());
});
server.listen({ port: 3473, host: "0.0.0.0", backlog: 4_096 }, () => process.stdout.write("ready\n"));
