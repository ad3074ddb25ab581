// `npm run demo`: an agent fixes the sample repository and opens a draft pull request, from an empty platform, unattended.
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPlatform } from "./local-platform.mjs";
import { setUp } from "./setup.mjs";

await setUp();
const data = mkdtempSync(join(tmpdir(), "platform-demo-"));
const platform = await startPlatform({ data, listen: "127.0.0.1:0" });
try {
  await tellStory(platform);
} finally {
  await platform.stop();
  rmSync(data, { recursive: true, force: true });
}

async function tellStory({ url, key, sample }) {
  console.log(`\nThe platform runs at ${url}; the sample repository is ${sample}\n`);
  const prompt = "Fix the failing test";
  console.log(`> ${prompt}\n`);
  const { agent, run } = await ask("POST", "/v1/agents", {
    prompt: { text: prompt },
    repos: [{ url: sample }],
    autoCreatePR: true,
  });
  await follow(`/v1/agents/${agent.id}/runs/${run.id}/stream`);
  const ended = await ask("GET", `/v1/agents/${agent.id}/runs/${run.id}`);
  const [branch] = ended.git?.branches ?? [];
  if (ended.status !== "FINISHED" || !branch?.prUrl)
    throw new Error(`The run ended as ${ended.status} without a pull request: ${JSON.stringify(ended)}`);
  const pull = await ask("GET", new URL(branch.prUrl).pathname);
  console.log(`\nDraft pull request ${branch.prUrl}\n  ${pull.title}\n  ${pull.head} into ${pull.base}\n`);
  console.log(await ask("GET", `${new URL(branch.prUrl).pathname}/diff`));

  async function ask(method, path, body) {
    const { status, text } = await send(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path} was answered with ${status}: ${text}`);
    return text.startsWith("{") ? JSON.parse(text) : text;
  }

  async function send(method, path, body, onText = () => {}) {
    const headers = { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) };
    return new Promise((resolve, reject) => {
      const asked = request(new URL(path, url), { method, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (piece) => {
          text += piece;
          onText(piece);
        });
        response.on("end", () => resolve({ status: response.statusCode, text }));
        response.on("error", reject);
      });
      asked.on("error", reject);
      asked.end(body && JSON.stringify(body));
    });
  }

  /** Shows what the agent says and does, as it happens. */
  async function follow(path) {
    let rest = "";
    await send("GET", path, undefined, (piece) => {
      rest += piece;
      for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
        show(rest.slice(0, end));
        rest = rest.slice(end + 2);
      }
    });
  }

  function show(frame) {
    const lines = Object.fromEntries(frame.split("\n").map((line) => line.split(/: (.*)/s)));
    const data = JSON.parse(lines.data ?? "{}");
    if (lines.event === "assistant") process.stdout.write(data.text);
    if (lines.event === "tool_call" && data.status === "running")
      console.log(`\n[${data.name}] ${data.args?.cmd ?? data.args?.path ?? ""}`);
    if (lines.event === "result") console.log(`\n\n${data.status} after ${data.durationMs} ms`);
  }
}
