// `agentcli cloud list`: the newest agents of the platform.
import { CommandError } from "@agentcli/command-line";
import { type AgentListItem, describeRunModel, type Run } from "@agentcli/protocol/api";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { type ChangeSummary, summarize } from "../../cloud/patch.ts";
import { type CloudPlatform, openCloud } from "../../cloud/platform.ts";
import { outcomeOf, statusOf } from "../../cloud/status.ts";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const limit = readLimit(invocation.list("limit").at(-1));
  const cloud = await openCloud(invocation, program);
  const { items, nextCursor } = await cloud.listAgents({ limit, cursor: invocation.text("cursor") });
  const shown = await Promise.all(items.map(async (agent) => ({ agent, run: await cloud.readLatestRun(agent) })));
  if (invocation.has("json")) {
    const tasks: object[] = [];
    // One after the other: for each the platform looks at the files of an agent.
    for (const one of shown) tasks.push(asTask(one, await summaryOf(one, cloud)));
    const page = { tasks, cursor: nextCursor ?? null };
    await program.print(`${JSON.stringify(page, null, 2)}\n`);
    return exitCodes.completed.code;
  }
  await program.print(shown.map(asText).join(""));
  if (shown.length === 0) program.reporter.log("No agents yet.");
  if (nextCursor !== undefined) program.reporter.log(`There are more: --cursor ${nextCursor}`);
  return exitCodes.completed.code;
}

const most = 20;

function readLimit(text: string | undefined): number {
  if (text === undefined) return most;
  if (/^(?:[1-9]|1\d|20)$/.test(text)) return Number(text);
  throw new CommandError("usage", `--limit ${text}: expected a number of agents, 1 to ${most}.`);
}

interface Shown {
  agent: AgentListItem;
  run: Run | null;
}

/** Null where the platform cannot answer: one agent of a list must not hide the others. */
async function summaryOf({ agent }: Shown, cloud: CloudPlatform): Promise<ChangeSummary | null> {
  try {
    return summarize(await cloud.readDiff(agent.id));
  } catch (error) {
    if (error instanceof CommandError && error.exit === "failed") return null;
    throw error;
  }
}

const asTask = ({ agent, run }: Shown, summary: ChangeSummary | null): object => ({
  id: agent.id,
  url: agent.url,
  title: agent.name ?? "",
  status: statusOf(run),
  updated_at: agent.updatedAt,
  environment_id: agent.env?.name ?? null,
  environment_label: agent.repos?.[0]?.url ?? null,
  summary,
  is_review: false,
  attempt_total: 1,
  model: run?.model ?? null,
});

function asText({ agent, run }: Shown): string {
  const repositories = (agent.repos ?? []).map(({ url }) => `  ${url}`).join("");
  const model = run?.model ? `  ${describeRunModel(run.model)}` : "";
  return `${agent.id}  ${outcomeOf(run).padEnd(9)}  ${agent.updatedAt}${repositories}${model}\n    ${agent.name ?? ""}\n`;
}
