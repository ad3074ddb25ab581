// `agentcli import`: settings of other tools, with a list of what was left out.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { readRequirements } from "@agentcli/project";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import { requirementFiles } from "../../config/request.ts";
import { type Applied, applyProposal } from "../../import/apply.ts";
import { proposeFromClaude } from "../../import/claude.ts";
import { proposeFromCodex } from "../../import/codex.ts";
import type { Proposal } from "../../import/proposal.ts";
import type { Program } from "../../program.ts";

export async function run({ has, text }: Invocation, { environment, print }: Program): Promise<number> {
  const { agentHome, userHome, cwd, variables } = environment;
  const codexHome = resolve(cwd, variables.CODEX_HOME || join(userHome, ".codex"));
  const tools = [
    { name: "codex", folders: [codexHome], propose: () => proposeFromCodex(codexHome) },
    {
      name: "claude",
      folders: [join(userHome, ".claude"), join(userHome, ".claude.json")],
      propose: async () => proposeFromClaude(userHome),
    },
  ].filter(({ name }) => name === (text("from") ?? name));
  const found = tools.filter(({ folders }) => folders.some((path) => existsSync(path)));
  if (found.length === 0) {
    const folders = tools.flatMap((tool) => tool.folders).join(", ");
    throw new CommandError("usage", `There is nothing to import: none of these exists: ${folders}.`);
  }
  const requirements = await readRequirements(requirementFiles(environment));
  const writes = !has("dry-run");
  const results: { proposal: Proposal; applied: Applied }[] = [];
  for (const { propose } of found) {
    const proposal = await propose();
    results.push({ proposal, applied: await applyProposal(proposal, { agentHome, requirements, writes }) });
  }
  await print(has("json") ? asJson(results) : asText(results, writes));
  return exitCodes.completed.code;
}

type Results = { proposal: Proposal; applied: Applied }[];

const asJson = (results: Results): string =>
  `${JSON.stringify(results.map(({ proposal, applied }) => ({ tool: proposal.tool, ...applied })))}\n`;

const asText = (results: Results, writes: boolean): string =>
  results
    .flatMap(({ proposal, applied: { taken, skipped } }) => [
      `${proposal.tool}: ${taken.length === 0 ? "nothing new" : writes ? "taken over" : "would be taken over"}`,
      ...taken.map((what) => `  ${what}`),
      ...(skipped.length > 0 ? ["  left out:"] : []),
      ...skipped.map(({ what, reason }) => `    ${what}: ${reason}`),
      "",
    ])
    .join("\n");
