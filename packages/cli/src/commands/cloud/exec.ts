// `agentcli cloud exec`: gives a prompt to a new agent on the platform.
import { CommandError } from "@agentcli/command-line";
import type { Agent, CreateAgent, Run } from "@agentcli/protocol/api";
import { exitCodes, exitOf } from "@agentcli/protocol/exit-codes";
import { findCheckout, sharedAddress } from "../../cloud/origin.ts";
import { type CloudPlatform, openCloud } from "../../cloud/platform.ts";
import { openRenderer } from "../../cloud/render.ts";
import { modelLines } from "../../cloud/status.ts";
import type { Invocation } from "../../command.ts";
import { readPrompt } from "../../exec/prompt-input.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { reporter, signal, print } = program;
  const text = await readPrompt({
    argument: invocation.positionals[0] ?? null,
    stdinLimitMs: 1000,
    log: reporter.log,
    warn: reporter.log,
    clean: (prompt) => prompt,
    signal,
  });
  const cloud = await openCloud(invocation, program);
  const created = await cloud.createAgent(await composeRequest(invocation, text, () => repositoryFor(cloud, program)));
  const { agent, run: first } = created;
  const isJson = invocation.has("json");
  if (!isJson) for (const line of [agent.url, ...modelLines(first)]) reporter.log(line);
  const line = { id: agent.id, url: agent.url, run_id: first.id, status: first.status, model: first.model ?? null };
  await print(isJson ? `${JSON.stringify(line)}\n` : `${agent.id}\n`);
  if (!invocation.has("follow")) return exitCodes.completed.code;
  return follow(created, { cloud, program, form: isJson ? "json" : "text" });
}

async function composeRequest(
  invocation: Invocation,
  text: string,
  findRepository: () => Promise<string | null>,
): Promise<CreateAgent> {
  const env = readEnv(invocation.list("env").at(-1));
  const isWhole = env?.type === "cloud" && env.name !== undefined;
  const url = invocation.text("repo") ?? (isWhole ? null : await findRepository());
  const branch = invocation.text("branch");
  if (branch !== undefined && url === null)
    throw new CommandError(
      "usage",
      "--branch needs a repository: --repo URL, or a directory whose origin others can reach.",
    );
  const model = invocation.text("model");
  return {
    prompt: { text },
    ...(env && { env }),
    ...(url !== null && { repos: [{ url, ...(branch !== undefined && { startingRef: branch }) }] }),
    ...(model !== undefined && { model: { id: model } }),
    ...(invocation.has("pr") && { autoCreatePR: true }),
  };
}

/** `NAME`, `pool:NAME` or `machine:NAME`; `cloud` is the default. */
function readEnv(text: string | undefined): CreateAgent["env"] {
  if (text === undefined) return undefined;
  const [, type, name] = /^(?:(cloud|pool|machine)(?::|$))?(.*)$/s.exec(text) ?? [];
  return { type: (type as "cloud" | "pool" | "machine" | undefined) ?? "cloud", ...(name && { name }) };
}

async function repositoryFor({ repository }: CloudPlatform, program: Program): Promise<string | null> {
  if (repository === undefined) return ownAddress(program);
  program.reporter.log(`Repository ${repository}`);
  return repository;
}

async function ownAddress({ environment, reporter, signal }: Program): Promise<string | null> {
  const checkout = await findCheckout(environment, signal);
  const origin = checkout?.remotes.get("origin");
  const address = origin === undefined ? null : sharedAddress(origin);
  const why = checkout ? "this one has no origin that others can reach" : `${environment.cwd} is in none`;
  reporter.log(address === null ? `Without a repository: ${why}. --repo URL names one.` : `Repository ${address}`);
  return address;
}

interface FollowContext {
  cloud: CloudPlatform;
  program: Program;
  form: "json" | "text";
}

/** What it does goes to standard error: standard output is for the id. */
async function follow({ agent, run: first }: { agent: Agent; run: Run }, context: FollowContext): Promise<number> {
  const { cloud, program, form } = context;
  const render = openRenderer();
  await cloud.follow(first, async (frame) => {
    if (form === "json") return program.print(`${JSON.stringify(frame)}\n`);
    for (const line of render(frame)) program.reporter.log(line);
  });
  const ended = await cloud.readLatestRun({ ...agent, latestRunId: first.id });
  if (ended?.status === "FINISHED") return exitCodes.completed.code;
  return exitCodes[exitOf[(ended?.error?.code ?? "internal") as keyof typeof exitOf] ?? "failed"].code;
}
