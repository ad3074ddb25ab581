// `.claude/agents/*.md`: the agents of another tool as roles here. What has no counterpart is noted, and nothing is widened.
import { withoutEffect } from "../commands/command.ts";
import { readFrontMatter } from "../front-matter/front-matter.ts";
import { parseMarkdownRole } from "./markdown-role.ts";
import type { RoleDefinition } from "./role.ts";

export type ParsedForeignRole = { role: RoleDefinition; notes: string[] } | { problem: string };

export function parseForeignRole(text: string, source: string): ParsedForeignRole {
  const parsed = parseMarkdownRole(text, source);
  if ("problem" in parsed) return parsed;
  const { model, tools, effort: _, ...role } = parsed;
  const mapped = tools && mapTools(tools);
  return {
    role: { ...role, ...(mapped && { tools: mapped.tools }), ...(isPlanOnly(text) && { readonly: true }) },
    notes: [
      ...(model && model !== "inherit" ? [`model ${model} is ignored; it has the model of its parent`] : []),
      ...(mapped?.unknown ?? []).map((name) => `the tool ${name} is not known here; it does not have it`),
      ...keysOf(text)
        .filter((key) => !knownKeys.has(key))
        .map(withoutEffect),
    ],
  };
}

const knownKeys = new Set(["name", "description", "tools", "model", "color", "readonly", "permissionMode"]);

function keysOf(text: string): string[] {
  const matter = readFrontMatter(text);
  return matter.kind === "matter" ? Object.keys(matter.values) : [];
}

function isPlanOnly(text: string): boolean {
  const matter = readFrontMatter(text);
  return matter.kind === "matter" && matter.values.permissionMode === "plan";
}

/** An agent that names only unknown tools has none: a list restricts. */
function mapTools(names: string[]): { tools: string[]; unknown: string[] } {
  const known = (name: string): string[] | undefined => {
    // `Bash(git:*)` is Bash, restricted further than a role can be; `mcp__server__tool` has the same name here.
    const plain = name.split("(", 1)[0] ?? "";
    return counterparts[plain] ?? (/^mcp__|^[a-z_]+$/.test(plain) ? [plain] : undefined);
  };
  return {
    tools: [...new Set(names.flatMap((name) => known(name) ?? []))],
    unknown: names.filter((name) => known(name) === undefined),
  };
}

const edits = ["apply_patch", "edit_file"];
const counterparts: Record<string, string[]> = {
  Read: ["read_file", "view_image"],
  Grep: ["grep_files"],
  Glob: ["glob", "list_dir"],
  LS: ["list_dir"],
  Bash: ["exec_command", "write_stdin"],
  BashOutput: ["write_stdin"],
  Edit: edits,
  MultiEdit: edits,
  Write: edits,
  NotebookEdit: edits,
  TodoWrite: ["update_plan"],
  WebFetch: ["web_fetch"],
  WebSearch: ["web_search"],
  Task: ["spawn_agent", "wait_agent", "send_input", "close_agent", "resume_agent"],
};
