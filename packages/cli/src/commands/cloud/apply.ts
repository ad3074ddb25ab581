// `agentcli apply`: what an agent of the platform has changed, in this working tree.
import { CommandError } from "@agentcli/command-line";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { agentIdIn } from "../../cloud/agent-id.ts";
import { applyPatch, chooseDiff } from "../../cloud/apply.ts";
import { findCheckout, requireTop } from "../../cloud/origin.ts";
import { describeSummary, summarize } from "../../cloud/patch.ts";
import { openCloud } from "../../cloud/platform.ts";
import { named } from "../../cloud/settings.ts";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const agentId = agentIdIn(invocation, "agentcli apply");
  const { environment, reporter, signal, print } = program;
  const checkout = await findCheckout(environment, signal);
  if (!checkout)
    throw new CommandError(
      "usage",
      `${environment.cwd} is not inside a git repository. Run this in a clone of the agent's repository.`,
    );
  await requireTop(checkout.root, environment, signal);
  const cloud = await openCloud(invocation, program);
  const agent = await cloud.readAgent(agentId);
  if (agent.status === "ACTIVE")
    throw new CommandError("failed", `Agent ${agentId} is still running. Wait for it: agentcli cloud logs ${agentId}`);
  const items = await cloud.readDiff(agentId);
  if (items.every(({ patch }) => patch === ""))
    throw new CommandError("failed", `Agent ${agentId} has changed nothing.`);
  const diff = chooseDiff(items, checkout);
  if (diff.patch === "") throw new CommandError("failed", `Agent ${agentId} has changed nothing in ${diff.repoUrl}.`);
  const settings = invocation.has("with-settings") ? "applied" : "refused";
  const { outcome, obeyed } = await applyPatch({ diff, root: checkout.root, environment, signal, settings });
  if (outcome === "applied") await print("Successfully applied diff\n");
  const message = outcome === "applied" ? "Applied" : "Already there";
  reporter.log(`${message}: ${describeSummary(summarize([diff]))}`);
  if (obeyed.length > 0)
    reporter.log(`Check before you use git, editors or agents here, which obey these files: ${named(obeyed)}.`);
  return exitCodes.completed.code;
}
