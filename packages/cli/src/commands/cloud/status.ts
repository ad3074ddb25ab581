// `agentcli cloud status`: how far an agent is; exit code 0 when it has finished, 1 when not.
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { agentIdIn } from "../../cloud/agent-id.ts";
import { describeSummary, summarize } from "../../cloud/patch.ts";
import { openCloud } from "../../cloud/platform.ts";
import { modelLines, outcomeOf, statusOf } from "../../cloud/status.ts";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const cloud = await openCloud(invocation, program);
  const agent = await cloud.readAgent(agentIdIn(invocation, "agentcli cloud status"));
  const latest = await cloud.readLatestRun(agent);
  const summary = summarize(await cloud.readDiff(agent.id));
  const status = statusOf(latest);
  const branches = latest?.git?.branches ?? [];
  const error = latest?.error?.message ?? null;
  const { id, url, name: title = "", updatedAt: updated_at } = agent;
  if (invocation.has("json")) {
    const run_status = latest?.status ?? null;
    const report = {
      id,
      url,
      title,
      status,
      run_status,
      updated_at,
      error,
      summary,
      branches,
      model: latest?.model ?? null,
    };
    await program.print(`${JSON.stringify(report, null, 2)}\n`);
  } else {
    const made = branches
      .flatMap(({ branch, prUrl }) => prUrl ?? branch ?? [])
      .map((line) => `${line}\n`)
      .join("");
    const model = modelLines(latest)
      .map((line) => `${line}\n`)
      .join("");
    const why = error === null ? "" : `: ${error}`;
    await program.print(`${outcomeOf(latest)}${why}\n${title}\n${url}\n${model}${describeSummary(summary)}\n${made}`);
  }
  return exitCodes[status === "ready" ? "completed" : "failed"].code;
}
