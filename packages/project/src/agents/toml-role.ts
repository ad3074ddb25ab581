// `.agentcli/agents/**/*.toml`: one custom agent a file.
import type { SandboxMode } from "@agentcli/protocol";
import type { RoleDefinition } from "./role.ts";

/** The problem as a sentence. */
export type ParsedRole = RoleDefinition | { problem: string };

export type ParseToml = (text: string) => Record<string, unknown>;

/** Fields of a role in the configuration; its file has precedence. */
export interface DeclaredRole {
  name?: string | undefined;
  description?: string | undefined;
  nickname_candidates?: string[] | undefined;
}

export function parseTomlRole(
  text: string,
  { source, declared = {} }: { source: string; declared?: DeclaredRole },
  parseToml: ParseToml,
): ParsedRole {
  try {
    return toRole({ ...declared, ...parseToml(text) }, source);
  } catch (error) {
    return { problem: `it is not valid TOML: ${firstLine((error as Error).message)}` };
  }
}

/** A role defined by a table of the configuration, without a file. */
export function tableRole({ name, description, nickname_candidates }: DeclaredRole, outer: RoleDefinition | undefined) {
  const described = { name, description: description ?? outer?.description, nickname_candidates };
  const role = toRole({ ...described, developer_instructions: "none" }, `agents.${name}`);
  return "problem" in role ? role : { ...role, instructions: outer?.instructions ?? "" };
}

function toRole(table: Record<string, unknown>, source: string): ParsedRole {
  const unknown = Object.keys(table).find((key) => !knownKeys.has(key));
  if (unknown !== undefined) return { problem: `it has an unknown key ${unknown}` };
  for (const key of ["name", "description", "developer_instructions"]) {
    const value = table[key];
    if (typeof value !== "string" || value.trim() === "") return { problem: `${key} must be a text that is not empty` };
  }
  const wrong = checks.find(([key, check]) => table[key] !== undefined && !check(table[key]));
  if (wrong) return { problem: `${wrong[0]} must be ${wrong[2]}` };
  return {
    name: String(table.name).trim(),
    description: String(table.description).trim(),
    instructions: String(table.developer_instructions).trim(),
    source,
    ...(table.model !== undefined && { model: String(table.model) }),
    ...(table.model_provider !== undefined && { provider: String(table.model_provider) }),
    ...(table.model_reasoning_effort !== undefined && { effort: String(table.model_reasoning_effort) }),
    ...(table.sandbox_mode !== undefined && { sandbox: table.sandbox_mode as SandboxMode }),
    ...(table.tools !== undefined && { tools: table.tools as string[] }),
    ...(table.nickname_candidates !== undefined && { nicknames: table.nickname_candidates as string[] }),
    ...(table.readonly !== undefined && { readonly: table.readonly === true }),
  };
}

const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const modes = ["read-only", "workspace-write", "danger-full-access"];

const checks: [string, (value: unknown) => boolean, string][] = [
  ["name", (value) => /^[\w-]{1,64}$/.test(String(value).trim()), "letters, digits, - and _, 64 at most"],
  ["model", isText, "the name of a model, or inherit"],
  ["model_provider", isText, "the id of a provider"],
  ["model_reasoning_effort", isText, "a text such as low or high"],
  ["sandbox_mode", (value) => modes.includes(String(value)), `one of ${modes.join(", ")}`],
  ["tools", isTexts, "a list of tool names"],
  ["readonly", (value) => typeof value === "boolean", "true or false"],
  [
    "nickname_candidates",
    (value) =>
      Array.isArray(value) &&
      value.length > 0 &&
      new Set(value).size === value.length &&
      value.every((name) => typeof name === "string" && /^[A-Za-z0-9 _-]+$/.test(name)),
    "a list of different names of letters, digits, spaces, - and _",
  ],
];

/** Configuration keys are accepted, so that files of other tools load; these are those of the run for all its agents. */
const keysOfRun = [
  ...["model_reasoning_summary", "model_verbosity", "sandbox_workspace_write", "approval_policy", "mcp_servers"],
  ...["skills", "features", "service_tier", "personality", "web_search"],
];
const knownKeys = new Set([
  ...["name", "description", "developer_instructions", "nickname_candidates", "tools", "readonly", "sandbox_mode"],
  ...["model", "model_provider", "model_reasoning_effort", ...keysOfRun],
]);

/** Keys without effect, as sentences. A repository does not choose which provider gets the conversation. */
export function idleKeys(table: Record<string, unknown>, within: string | null): string[] {
  const idle = keysOfRun.filter((key) => key in table).map((key) => `${key} has no effect here; agents have the run's`);
  if (within === null || !("model_provider" in table)) return idle;
  return [...idle, "model_provider has no effect in a repository; set it in a file of $AGENT_HOME/agents"];
}

const firstLine = (text: string): string => text.trim().split("\n")[0] ?? "";
