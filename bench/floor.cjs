// The floor: what Node needs to make one request and print the reply. Everything above it is our own cost.
const http = require("node:http");

const body = JSON.stringify({
  model: "scripted",
  stream: true,
  input: [{ role: "user", content: process.argv[3] ?? "hello" }],
});
const request = http.request(`${process.argv[2]}/responses`, {
  method: "POST",
  headers: { "content-type": "application/json" },
});
request.on("response", (response) => {
  response.setEncoding("utf8");
  let rest = "";
  let text = "";
  response.on("data", (piece) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (!line.startsWith("data: {")) continue;
      const event = JSON.parse(line.slice(6));
      if (event.type === "response.output_item.done") text = event.item.content[0].text;
    }
  });
  response.on("end", () => process.stdout.write(`${text}\n`));
});
request.end(body);
