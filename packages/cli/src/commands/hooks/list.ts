// `agentcli hooks list`: every hook a run here would know of, and whether it would run.
import { trustHash } from "@agentcli/project/hooks";
import type { HookDefinition } from "@agentcli/protocol";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import { type ListedHook, listHooks } from "../../hooks/listed.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const all = await listHooks(invocation, program);
  const shown = invocation.has("effective") ? all.filter(isEffective) : all;
  if (invocation.has("json")) await program.print(shown.map((hook) => `${JSON.stringify(asJson(hook))}\n`).join(""));
  else await program.print(shown.map(asText).join(""));
  if (shown.length === 0)
    program.reporter.log(all.length === 0 ? "No hooks here." : "None of the hooks here would run.");
  return exitCodes.completed.code;
}

const isEffective = ({ definition, status, enabled }: ListedHook): boolean =>
  definition.type !== "agent" && (status === "managed" || (status === "trusted" && enabled));

const asJson = ({ definition, status, enabled }: ListedHook): object => ({
  key: definition.key,
  dialect: definition.dialect,
  event: definition.event,
  matcher: definition.matcher,
  type: definition.type ?? "command",
  ...workOf(definition),
  timeout_ms: definition.timeoutMs,
  source: definition.source.kind,
  source_path: definition.source.path,
  status,
  enabled,
  hash: definition.hash,
  trust_hash: trustHash(definition),
  script: definition.script ?? null,
  files: definition.files ?? [],
  unpinned: definition.unpinned ?? null,
});

function asText({ definition, status, enabled }: ListedHook): string {
  const { event, matcher, source, key, hash, script, files = [], unpinned } = definition;
  const what = `${event}${matcher === null ? "" : ` ${matcher}`}`;
  const lines = [
    `${status}${enabled ? "" : " (switched off)"}  ${source.kind}  ${what}`,
    `    ${describe(definition)}`,
    `    key     ${key}`,
    `    hash    ${hash}`,
    `    trust   ${trustHash(definition)}`,
    ...(script ? [`    script  ${script.path} ${script.hash}`] : []),
    ...files.filter(({ path }) => path !== script?.path).map(({ path, hash }) => `    files   ${path} ${hash}`),
    ...(unpinned === undefined ? [] : [`    not pinned: ${unpinned}`]),
  ];
  return `${lines.join("\n")}\n`;
}

/** What it does, in the words of its file. */
function workOf(definition: HookDefinition): object {
  switch (definition.type) {
    case undefined:
    case "command":
      return { command: definition.command };
    case "prompt":
      return { prompt: definition.prompt, model: definition.model ?? null };
    case "mcp_tool":
      return { server: definition.server, tool: definition.tool, input: definition.input };
    case "agent":
      return { prompt: definition.prompt };
  }
}

function describe(definition: HookDefinition): string {
  switch (definition.type) {
    case undefined:
    case "command":
      return definition.command;
    case "mcp_tool":
      return `mcp_tool ${definition.server}/${definition.tool}`;
    case "prompt":
    case "agent":
      return `${definition.type} ${definition.prompt.split("\n")[0]}`;
  }
}
