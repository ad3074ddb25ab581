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
} catch (error) {
  if (!platform.isStopping()) console.error(`\n${error.message}`);
  process.exitCode = platform.isStopping() ? 130 : 1;
} finally {
  await platform.stop();
  rmSync(data, { recursive: true, force: true });
}

async function tellStory(platform) {
  const { url, sample } = platform;
  const ask = asking(platform);
  console.log(`\nThe platform runs at ${url}; the sample repository is ${sample}\n`);
  const prompt = "Fix the failing test";
  console.log(`> ${prompt}\n`);
  const wish = { prompt: { text: prompt }, repos: [{ url: sample }], autoCreatePR: true };
  const { agent, run } = await ask("POST", "/v1/agents", wish);
  const path = `/v1/agents/${agent.id}/runs/${run.id}`;
  await ask("GET", `${path}/stream`, undefined, frames(show));
  const ended = await ask("GET", path);
  const [branch] = ended.git?.branches ?? [];
  if (ended.status !== "FINISHED" || !branch?.prUrl)
    throw new Error(`The run ended as ${ended.status} without a pull request. ${ended.error?.message ?? ""}`);
  const pullPath = new URL(branch.prUrl).pathname;
  const pull = await ask("GET", pullPath);
  console.log(`\nDraft pull request ${branch.prUrl}\n  ${pull.title}\n  ${pull.head} into ${pull.base}\n`);
  console.log(await ask("GET", `${pullPath}/diff`));
}

/** Asks the API with the key; JSON comes back as a value, all else as text. */
function asking({ url, key }) {
  return async (method, path, body, onText = () => {}) => {
    const headers = { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) };
    const { status, text } = await new Promise((resolve, reject) => {
      const asked = request(new URL(path, url), { method, headers }, (response) => {
        let received = "";
        response.setEncoding("utf8");
        response.on("data", (piece) => {
          received += piece;
          onText(piece);
        });
        response.on("end", () => resolve({ status: response.statusCode, text: received }));
        response.on("error", reject);
      });
      asked.on("error", reject);
      asked.end(body && JSON.stringify(body));
    });
    if (status >= 300) throw new Error(`${method} ${path} was answered with ${status}: ${text}`);
    return text.startsWith("{") ? JSON.parse(text) : text;
  };
}

/** Cuts a stream into its frames as it comes. */
function frames(take) {
  let rest = "";
  return (piece) => {
    const parts = (rest + piece).split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) take(part);
  };
}

/** What the agent says and does, as it happens. */
function show(frame) {
  const lines = Object.fromEntries(frame.split("\n").map((line) => line.split(/: (.*)/s)));
  const data = JSON.parse(lines.data ?? "{}");
  if (lines.event === "assistant") process.stdout.write(data.text);
  if (lines.event === "tool_call" && data.status === "running")
    console.log(`\n[${data.name}] ${data.args?.cmd ?? data.args?.path ?? ""}`);
  if (lines.event === "result") console.log(`\n\n${data.status} after ${data.durationMs} ms`);
}
