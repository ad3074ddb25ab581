// `npm start`: the whole platform on this machine, ready to try, without a key for a model and without a network.
import { randomUUID } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import { startPlatform } from "./local-platform.mjs";
import { setUp } from "./setup.mjs";

await setUp();
const data = process.env.PLATFORM_DATA || join(homedir(), ".platform");
const platform = await startPlatform({ data, listen: process.env.PLATFORM_LISTEN });
const { url, model, key, loginUrl, sample, logFile } = platform;
const agent = `bc-${randomUUID()}`;
const body = JSON.stringify({
  agentId: agent,
  prompt: { text: "Fix the failing test" },
  repos: [{ url: sample }],
  autoCreatePR: true,
});
console.log(`
The platform runs at ${url}.

Model:        ${model}

Open:         ${loginUrl}

API key:      ${key}

Try it:
  run=$(curl -s -u ${key}: ${url}/v1/agents -H 'content-type: application/json' -d '${body}' | grep -o 'run-[0-9a-f-]*' | head -1)
  curl -sN -u ${key}: ${url}/v1/agents/${agent}/runs/$run/stream
  curl -s -u ${key}: ${url}/v1/agents/${agent}/runs/$run

All data is in ${data}; the log is ${logFile}. Ctrl-C stops the platform; its data stays.`);

await platform.exited;
