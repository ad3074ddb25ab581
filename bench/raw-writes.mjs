// The floor of a fan-out: for each line on standard input the bytes it names, written to everybody who is connected.
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const readers = new Set();
const server = createServer((_, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write("event: status\ndata: {}\n\n");
  readers.add(response);
  response.on("close", () => readers.delete(response));
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));

const lines = createInterface(process.stdin);
lines.on("line", (bytes) => {
  const piece = Buffer.alloc(Number(bytes), "event: assistant\n");
  for (const reader of readers) reader.write(piece);
});
lines.on("close", () => {
  server.closeAllConnections();
  server.close();
});
