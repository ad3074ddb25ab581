// `agentcli hooks trust`: from now on these hooks run, as they are now.
import { CommandError } from "@agentcli/command-line";
import { trustHash } from "@agentcli/project/hooks";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import { listHooks } from "../../hooks/listed.ts";
import { refuseUnpinned, trustListed } from "../../hooks/trust.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const keys = invocation.positionals;
  const hooks = (await listHooks(invocation, program)).filter(({ status }) => status !== "managed");
  const unknown = keys.find((key) => !hooks.some(({ definition }) => definition.key === key));
  if (unknown !== undefined) {
    throw new CommandError("usage", `There is no hook ${unknown} here. See their keys with: agentcli hooks list`);
  }
  const meant = keys.length > 0 ? hooks.filter(({ definition }) => keys.includes(definition.key)) : hooks;
  const open = meant.filter(({ status, enabled }) => status !== "trusted" || !enabled);
  if (keys.length === 0 && !invocation.has("all") && open.length > 1) {
    const list = open.map(({ definition }) => `  ${definition.key}`).join("\n");
    throw new CommandError("usage", `No hook given. Pass a key, or --all for all of these:\n${list}`);
  }
  if (!invocation.has("unpinned")) refuseUnpinned(open);
  await trustListed(open, program);
  await program.print(open.map(({ definition }) => `Trusted: ${definition.key} ${trustHash(definition)}\n`).join(""));
  if (open.length === 0) program.reporter.log("Nothing to trust: every hook here is trusted already.");
  return exitCodes.completed.code;
}
