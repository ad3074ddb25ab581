// Recognizes MCP tools by name alone, without loading anything.
const readOnlyTools = [
  "list_mcp_resources",
  "list_mcp_resource_templates",
  "read_mcp_resource",
  "list_mcp_prompts",
  "get_mcp_prompt",
];

/** Whether a tool of this name is an MCP tool, in this run or an earlier one. */
export const isMcpTool = (name: string): boolean => name.startsWith("mcp__") || readOnlyTools.includes(name);
