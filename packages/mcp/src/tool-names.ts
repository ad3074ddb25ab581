// Tells tools of MCP servers from others by name alone, without loading anything.
const looking = [
  "list_mcp_resources",
  "list_mcp_resource_templates",
  "read_mcp_resource",
  "list_mcp_prompts",
  "get_mcp_prompt",
];

/** Whether a tool by this name comes from servers, in this run or an earlier one. */
export const isMcpTool = (name: string): boolean => name.startsWith("mcp__") || looking.includes(name);
