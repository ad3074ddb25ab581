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
  const pieces = inPieces(text, deltas, (delta) => event({ type: "response.output_text.delta", item_id: "m", delta }));
  return created + pieces + event({ type: "response.output_item.done", item: messageItem(text) }) + done;
}

export function chatMessage(text, deltas = 1) {
  const chunk = (delta, finish_reason) =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "scripted", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  return `${inPieces(text, deltas, (content) => chunk({ content }, null))}${chunk({}, "stop")}data: [DONE]\n\n`;
}

export function anthropicMessage(text, deltas = 1) {
  const [start, stop] = [{ type: "text", text: "" }, { stop_reason: "end_turn" }];
  return [
    event({ type: "message_start", message: { id: "m", model: "scripted", usage: { input_tokens: 10 } } }),
    event({ type: "content_block_start", index: 0, content_block: start }),
    inPieces(text, deltas, (piece) =>
      event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: piece } }),
    ),
    event({ type: "content_block_stop", index: 0 }),
    event({ type: "message_delta", delta: stop, usage: { output_tokens: 2 } }),
    event({ type: "message_stop" }),
  ].join("");
}

function inPieces(text, count, write) {
  const size = Math.ceil(text.length / count);
  const pieces = [];
  for (let start = 0; start < text.length; start += size) pieces.push(write(text.slice(start, start + size)));
  return pieces.join("");
}

export const command = (cmd, number) => commands([cmd], number);

/** Calls in one answer, numbered from `first`. */
export function commands(list, first) {
  const calls = list.map((cmd, index) => {
    const item = {
      type: "function_call",
      call_id: `call_${first + index}`,
      name: "exec_command",
      arguments: JSON.stringify({ cmd }),
    };
    return (
      event({ type: "response.output_item.added", item: { ...item, arguments: "" } }) +
      event({ type: "response.output_item.done", item })
    );
  });
  return created + calls.join("") + done;
}
