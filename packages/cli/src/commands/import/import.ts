// `agentcli import`: settings and sessions of other tools, with a list of what was left out.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { readRequirements } from "@agentcli/project";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import { requirementFiles } from "../../config/request.ts";
import { runOptions } from "../../config/run-options.ts";
import { type Applied, applyProposal } from "../../import/apply.ts";
import { proposeFromClaude } from "../../import/claude.ts";
import { readClaudeSession } from "../../import/claude-sessions.ts";
import { proposeFromCodex } from "../../import/codex.ts";
import { readCodexSession } from "../../import/codex-sessions.ts";
import type { Proposal } from "../../import/proposal.ts";
import { importSessions } from "../../import/sessions.ts";
import type { Program } from "../../program.ts";
import { ageMs } from "../../sessions/age.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { has, text } = invocation;
  const { environment, print } = program;
  const { agentHome, userHome, cwd, variables } = environment;
  const codexHome = resolve(cwd, variables.CODEX_HOME || join(userHome, ".codex"));
  const tools = [
    {
      name: "codex",
      folders: [codexHome],
      propose: () => proposeFromCodex(codexHome),
      sessions: { root: join(codexHome, "sessions"), read: readCodexSession },
    },
    {
      name: "claude",
      folders: [join(userHome, ".claude"), join(userHome, ".claude.json")],
      propose: async () => proposeFromClaude(userHome),
      sessions: { root: join(userHome, ".claude", "projects"), read: readClaudeSession },
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
  const sinceMs = Date.now() - ageMs("since", text("since") ?? "30d");
  for (const { propose, sessions } of found) {
    const proposal = await propose();
    const settings = await applyProposal(proposal, { agentHome, requirements, writes });
    const imported = await importSessions(sessions, { sinceMs, writes, options: runOptions(invocation) }, program);
    const taken = [...settings.taken, ...imported.taken];
    results.push({ proposal, applied: { taken, skipped: [...settings.skipped, ...imported.skipped] } });
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
