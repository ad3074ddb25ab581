// The floor: what Node needs to make one request, parse the events of the reply and print its text. Everything above it is our own cost.
const http = require("node:http");

const [, , url, prompt = "hello", wire = "responses"] = process.argv;
const wires = {
  responses: {
    path: "responses",
    body: { input: [{ role: "user", content: prompt }] },
    read: (event, text) => (event.type === "response.output_item.done" ? event.item.content[0].text : text),
  },
  chat: {
    path: "chat/completions",
    body: { messages: [{ role: "user", content: prompt }] },
    read: (event, text) => text + (event.choices[0]?.delta.content ?? ""),
  },
  anthropic: {
    path: "messages",
    body: { messages: [{ role: "user", content: prompt }], max_tokens: 1000 },
    read: (event, text) => (event.type === "content_block_delta" ? text + event.delta.text : text),
  },
};
const { path, body, read } = wires[wire];
const request = http.request(`${url}/${path}`, { method: "POST", headers: { "content-type": "application/json" } });
request.on("response", (response) => {
  response.setEncoding("utf8");
  let rest = "";
  let text = "";
  response.on("data", (piece) => {
    // A line of 20 MB is joined once, not searched again with every piece.
    rest += piece;
    if (!piece.includes("\n")) return;
    const lines = rest.split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.startsWith("data: {")) text = read(JSON.parse(line.slice(6)), text);
  });
  response.on("end", () => process.stdout.write(`${text}\n`));
});
request.end(JSON.stringify({ model: "scripted", stream: true, ...body }));
