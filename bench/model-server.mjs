// A model server for measurements: replies are bytes made in advance, arrivals and departures are timed.
import { createServer } from "node:http";

export async function startServer(replyTo) {
  const arrivals = [];
  const departures = [];
  const server = createServer((request, response) => {
    arrivals.push(performance.now());
    request.resume();
    request.on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(replyTo(arrivals.length - 1), () => departures.push(performance.now()));
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  return {
    url: `http://127.0.0.1:${port}/v1`,
    arrivals,
    departures,
    reset() {
      arrivals.length = 0;
      departures.length = 0;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const usage = { input_tokens: 10, output_tokens: 2, total_tokens: 12 };
const done = event({ type: "response.completed", response: { id: "r", usage } });
const created = event({ type: "response.created", response: { id: "r" } });

const messageItem = (text) => ({
  type: "message",
  id: "m",
  role: "assistant",
  content: [{ type: "output_text", text }],
});

export function message(text, deltas = 1) {
  const size = Math.ceil(text.length / deltas);
  const pieces = [];
  for (let start = 0; start < text.length; start += size) {
    pieces.push(event({ type: "response.output_text.delta", item_id: "m", delta: text.slice(start, start + size) }));
  }
  return created + pieces.join("") + event({ type: "response.output_item.done", item: messageItem(text) }) + done;
}

export function command(cmd, number) {
  const item = {
    type: "function_call",
    call_id: `call_${number}`,
    name: "exec_command",
    arguments: JSON.stringify({ cmd }),
  };
  return (
    created +
    event({ type: "response.output_item.added", item: { ...item, arguments: "" } }) +
    event({ type: "response.output_item.done", item }) +
    done
  );
}
