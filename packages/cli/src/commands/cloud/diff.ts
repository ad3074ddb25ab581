// `agentcli cloud diff`: what an agent has changed, as a patch.
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { agentIdIn } from "../../cloud/agent-id.ts";
import { patchBytes } from "../../cloud/patch.ts";
import { openCloud } from "../../cloud/platform.ts";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const cloud = await openCloud(invocation, program);
  const agentId = agentIdIn(invocation, "agentcli cloud diff");
  const items = await cloud.readDiff(agentId);
  if (invocation.has("json")) {
    await program.print(`${JSON.stringify({ items }, null, 2)}\n`);
    return exitCodes.completed.code;
  }
  const changed = items.filter(({ patch }) => patch !== "");
  if (changed.length === 0) program.reporter.log(`Agent ${agentId} has changed nothing.`);
  for (const diff of changed) {
    if (changed.length > 1) program.reporter.log(`Repository ${diff.repoUrl}`);
    await program.print(patchBytes(diff));
  }
  return exitCodes.completed.code;
}
