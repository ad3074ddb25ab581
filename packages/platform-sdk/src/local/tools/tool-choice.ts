// Which tools an agent has, chosen by the names that its messages show.
import { agentToolNames, builtInTools, type Tool } from "@agentcli/engine";
import { isMcpTool } from "@agentcli/mcp/tool-names";
import { ConfigurationError } from "../../errors.ts";

/** A name of the stream stands for all tools that are shown by it. */
const shownAs: Record<string, string[]> = {
  run_terminal_cmd: ["exec_command", "write_stdin"],
  shell: ["exec_command", "write_stdin"],
  edit: ["apply_patch", "edit_file", "edit_notebook"],
  write: ["apply_patch", "edit_file", "edit_notebook"],
  delete: ["apply_patch"],
  read: ["read_file", "view_image"],
  ls: ["list_dir"],
  grep: ["grep_files"],
  glob: ["glob"],
  updateTodos: ["update_plan"],
  task: agentToolNames,
};

/** Kinds of call that the stream can carry and no local agent makes: naming them changes nothing. */
const absent = [
  ...["semSearch", "readLints", "readTodos", "createPlan", "generateImage", "recordScreen", "await"],
  ...["webSearch", "webFetch", "askQuestion", "applyAgentDiff"],
];

const ownNames = [...builtInTools.map(({ name }) => name), ...agentToolNames];
const knownNames = [...Object.keys(shownAs), "mcp", ...absent, ...ownNames];

export function checkToolNames(names: string[], operation: string): void {
  const unknown = names.find((name) => !knownNames.includes(name) && !isMcpTool(name));
  if (unknown === undefined) return;
  throw new ConfigurationError(
    `Unknown tool ${JSON.stringify(unknown)}. Use one of ${Object.keys(shownAs).join(", ")}, mcp or mcp__<server>__<tool>.`,
    { code: "invalid_option", operation },
  );
}

export interface ToolChoice {
  tools?: string[];
  disallowedTools?: string[];
}

/** Tools of the calling program are there unless they are denied: it gave them on purpose. */
export function selectTools(all: Tool[], custom: Tool[], { tools, disallowedTools = [] }: ToolChoice): Tool[] {
  const isMeant = (names: string[], { name }: Tool) =>
    names.some((each) => each === name || shownAs[each]?.includes(name) || (each === "mcp" && isMcpTool(name)));
  const isDenied = (tool: Tool) => isMeant(disallowedTools, tool);
  const offered = tools === undefined ? all : all.filter((tool) => isMeant(tools, tool));
  return [...offered, ...custom].filter((tool) => !isDenied(tool));
}
