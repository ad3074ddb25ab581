// The floor of a fan-out: for each number on standard input, writes that many bytes to every connected reader.
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
  const chunk = Buffer.alloc(Number(bytes), "event: assistant\n");
  for (const reader of readers) reader.write(chunk);
});
lines.on("close", () => {
  server.closeAllConnections();
  server.close();
});
