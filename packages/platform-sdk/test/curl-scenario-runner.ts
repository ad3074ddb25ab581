// Runs the scenario of e2e/sdk/platform-scenario.json through the bridge, with curl: what any language can do.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { SDKMessage } from "../src/messages.ts";
import type { PlatformFixture } from "./platform-fixture.ts";
import { optionsOf, type Step, type StepRunner, summary } from "./scenario-runner.ts";

const program = fileURLToPath(new URL("../bin/platform-sdk.mjs", import.meta.url));

export interface CurledBridge {
  url: string;
  tokenFile: string;
  close(): Promise<void>;
}

export async function startBridge(env: Record<string, string>): Promise<CurledBridge> {
  const child = spawn(process.execPath, [program, "bridge", "--with-stdin"], {
    stdio: ["pipe", "ignore", "pipe"],
    env: { PATH: process.env.PATH, ...env },
  });
  const ended = once(child, "exit");
  const [line] = await once(createInterface(child.stderr), "line");
  const { url, authTokenFile } = JSON.parse(String(line).replace("platform-sdk-bridge ready ", ""));
  return {
    url,
    tokenFile: authTokenFile,
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}

/** An answer other than a success throws the error that the bridge reports. */
export async function curl({ url, tokenFile }: CurledBridge, method: string, params: object): Promise<string> {
  const args = [
    "--silent",
    "--show-error",
    "--write-out",
    "\n%{http_code}",
    "--header",
    `Authorization: Bearer ${readFileSync(tokenFile, "utf8")}`,
  ];
  const { stdout } = await promisify(execFile)("curl", [
    ...args,
    "--data",
    JSON.stringify(params),
    `${url}/sdk.v1.${method}`,
  ]);
  const [, body = "", status] = /^([\s\S]*)\n(\d+)$/.exec(stdout) ?? [];
  if (status === "200") return body;
  const { name, ...facts } = JSON.parse(body).error;
  throw Object.assign(new Error(facts.message), { toJSON: () => ({ name, ...facts }) });
}

// One function per call of the scenario, of a line or two each.
export function curlScenarioRunner(bridge: CurledBridge, fixture: PlatformFixture): StepRunner {
  const agents = new Map<string, string>();
  const runs = new Map<string, { id: string; agentId: string }>();
  const ask = async (method: string, params: object) => JSON.parse(await curl(bridge, method, params));
  const agent = ({ agent: name = "" }: Step) => ({ agent: agents.get(name) });
  const run = ({ run: name = "" }: Step) => ({ agentId: runs.get(name)?.agentId, runId: runs.get(name)?.id });
  const nameOf = (id: string) => [...runs].find(([, known]) => known.id === id)?.[0];
  const calls: Record<string, StepRunner> = {
    me: (step) => ask("SdkPlatformService/Me", { options: step.key ? { apiKey: step.key } : {} }),
    models: async () => (await ask("SdkPlatformService/ListModels", {})).items.map(({ id }: { id: string }) => id),
    repositories: async () => (await ask("SdkPlatformService/ListRepositories", {})).items,
    async create(step) {
      agents.set(step.agent ?? "", (await ask("SdkAgentService/CreateAgent", { options: optionsOf(step) })).agent);
    },
    async resume(step) {
      const { agentId } = await ask("SdkAgentService/GetAgent", { agent: agents.get(step.of ?? "") });
      agents.set(step.agent ?? "", (await ask("SdkAgentService/ResumeAgent", { agentId })).agent);
    },
    async send(step) {
      const options = { idempotencyKey: step.idempotencyKey };
      const sent = await ask("SdkAgentService/Send", { ...agent(step), message: step.text, options });
      runs.set(step.run ?? "", sent);
      return sent;
    },
    stream: (step) => readStream(bridge, fixture, step, run(step)),
    output: async (step) => outputIn(await curl(bridge, "SdkAgentService/FollowRun", run(step))),
    wait: (step) => ask("SdkAgentService/WaitRun", run(step)),
    cancel: (step) => ask("SdkAgentService/CancelRun", run(step)),
    steer: async (step) => (await ask("SdkAgentService/SteerRun", { ...run(step), text: step.text })).outcome,
    async conversation(step) {
      const { turns } = await ask("SdkAgentService/GetConversation", run(step));
      // biome-ignore format: as the answer is built
      return turns.map(({ turn }: { turn: { userMessage: { text: string }; steps: { type: string; message: { type: string } }[] } }) => ({
        user: turn.userMessage.text,
        steps: turn.steps.map(({ type, message }) => (type === "toolCall" ? `toolCall ${message.type}` : type)),
      }));
    },
    artifacts: async (step) => (await ask("SdkAgentService/ListArtifacts", agent(step))).items,
    download: (step) => curl(bridge, "SdkAgentService/DownloadArtifact", { ...agent(step), path: step.path }),
    async usage(step) {
      const usage = await ask("SdkAgentService/GetUsage", agent(step));
      return { runs: usage.runs.length, oldest: usage.runs.at(-1).usage };
    },
    prompt: (step) => ask("SdkAgentService/Prompt", { message: step.text, options: optionsOf(step) }),
    getAgent: (step) => ask("SdkAgentService/GetAgent", agent(step)),
    listAgents: async () =>
      (await ask("SdkAgentService/ListAgents", { options: { limit: 10 } })).items.map(
        ({ name }: { name: string }) => name,
      ),
    getRun: (step) => ask("SdkAgentService/GetRun", run(step)),
    listRuns: async (step) =>
      (await ask("SdkAgentService/ListRuns", agent(step))).items.map(({ id }: { id: string }) => nameOf(id)),
    sameRun: async ({ runs: names = [] }) => new Set(names.map((name) => runs.get(name)?.id)).size === 1,
    archive: (step) => ask("SdkAgentService/ArchiveAgent", agent(step)),
    unarchive: (step) => ask("SdkAgentService/UnarchiveAgent", agent(step)),
    delete: (step) => ask("SdkAgentService/DeleteAgent", agent(step)),
  };
  return (step) => calls[step.call]?.(step) ?? Promise.reject(new Error(`The scenario has no call ${step.call}.`));
}

/** What commands printed, from the frames of a whole run. */
const outputIn = (events: string): string =>
  events
    .split("\n")
    .flatMap((line) => (line.includes('"shell-output-delta"') ? JSON.parse(line.slice("data: ".length)) : []))
    .map(({ event }) => event.value.data)
    .join("");

async function readStream(
  { url, tokenFile }: CurledBridge,
  fixture: PlatformFixture,
  step: Step,
  params: object,
): Promise<unknown> {
  const header = `Authorization: Bearer ${readFileSync(tokenFile, "utf8")}`;
  const address = `${url}/sdk.v1.SdkAgentService/StreamRun`;
  const args = ["--silent", "--no-buffer", "--header", header, "--data", JSON.stringify(params), address];
  const child = spawn("curl", args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const messages: SDKMessage[] = [];
  let texts = 0;
  for await (const line of createInterface(child.stdout)) {
    const message = line.startsWith("data: ") ? JSON.parse(line.slice(6)) : {};
    if (!message.type) continue;
    messages.push(message);
    if (message.type === "assistant" && ++texts === step.cutAfterText) await fixture.cut();
    if (texts > 0 && texts === step.leaveAfterText) child.kill();
  }
  await ended;
  return summary(messages);
}
