// `npm run demo`: an agent fixes the sample repository and opens a draft pull request, from an empty platform, unattended.
// With `--automation` a label on a pull request starts the agent. With `--keep` the platform stays, to look around.
import { mkdtempSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runAutomationDemo } from "./demo-automation.mjs";
import { removeData, startPlatform } from "./local-platform.mjs";
import { setUp } from "./setup.mjs";

await setUp();
const isKept = process.argv.includes("--keep");
const data = mkdtempSync(join(tmpdir(), "platform-demo-"));
const platform = await startPlatform({ data, listen: "127.0.0.1:0" });
try {
  const send = openClient(platform);
  await (process.argv.includes("--automation") ? runAutomationDemo(platform, send) : runDemo(platform, send));
  if (isKept) await keep(platform);
} catch (error) {
  if (!platform.isStopping()) console.error(`\n${error.message}`);
  process.exitCode = platform.isStopping() ? 130 : 1;
} finally {
  await platform.stop();
  if (!isKept) removeData(data);
}

async function keep({ loginUrl, exited }) {
  console.log(`Open:    ${loginUrl}\n\nAll data is in ${data}. Ctrl-C stops the platform.`);
  if ((await exited) === 0) console.log(`Stopped, nothing lost. PLATFORM_DATA=${data} npm start continues.`);
}

async function runDemo({ url, sample }, send) {
  console.log(`\nThe platform runs at ${url}; the sample repository is ${sample}\n`);
  const prompt = "Fix the failing test";
  console.log(`> ${prompt}\n`);
  const body = { prompt: { text: prompt }, repos: [{ url: sample }], autoCreatePR: true };
  const { agent, run } = await send("POST", "/v1/agents", body);
  const path = `/v1/agents/${agent.id}/runs/${run.id}`;
  await send("GET", `${path}/stream`, undefined, frames(show));
  const ended = await send("GET", path);
  const [branch] = ended.git?.branches ?? [];
  if (ended.status !== "FINISHED" || !branch?.prUrl)
    throw new Error(`The run ended as ${ended.status} without a pull request. ${ended.error?.message ?? ""}`);
  const pullPath = new URL(branch.prUrl).pathname;
  const pull = await send("GET", pullPath);
  console.log(`\nDraft pull request ${branch.prUrl}\n  ${pull.title}\n  ${pull.head} into ${pull.base}\n`);
  console.log(shown(await send("GET", `${pullPath}/diff`)));
}

/** Sends requests with the key; returns JSON as a value, everything else as text. */
function openClient({ url, key }) {
  return async (method, path, body, onText = () => {}) => {
    const headers = { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) };
    const { status, text } = await new Promise((resolve, reject) => {
      const sent = request(new URL(path, url), { method, headers }, (response) => {
        let received = "";
        response.setEncoding("utf8");
        response.on("data", (chunk) => {
          received += chunk;
          onText(chunk);
        });
        response.on("end", () => resolve({ status: response.statusCode, text: received }));
        response.on("error", reject);
      });
      sent.on("error", reject);
      sent.end(body && JSON.stringify(body));
    });
    if (status >= 300) throw new Error(`${method} ${path} failed with ${status}: ${text}`);
    return text.startsWith("{") ? JSON.parse(text) : text;
  };
}

/** Splits a stream into frames as it arrives. */
function frames(onFrame) {
  let rest = "";
  return (chunk) => {
    const parts = (rest + chunk).split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) onFrame(part);
  };
}

/** Prints messages and tool calls as they happen. */
function show(frame) {
  const lines = Object.fromEntries(frame.split("\n").map((line) => line.split(/: (.*)/s)));
  const data = JSON.parse(lines.data ?? "{}");
  if (lines.event === "assistant") process.stdout.write(shown(data.text));
  if (lines.event === "tool_call" && data.status === "running")
    console.log(shown(`\n[${data.name}] ${data.args?.cmd ?? data.args?.path ?? ""}`));
  if (lines.event === "result") console.log(`\n\n${data.status} after ${data.durationMs} ms`);
}

/** The model wrote it: a terminal obeys nothing in it. */
function shown(text) {
  if (!process.stdout.isTTY) return text;
  return text.replace(/(?![\n\t])\p{Cc}/gu, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
