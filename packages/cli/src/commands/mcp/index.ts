// Commands about MCP servers.
import type { Command } from "../../command.ts";

export const mcpCommands: Command[] = [
  {
    path: ["mcp", "list"],
    takes: "",
    maxPositionals: 0,
    summary: "List the configured MCP servers",
    flags: ["json", "config"],
    load: () => import("./list.ts"),
  },
  {
    path: ["mcp", "get"],
    takes: "NAME",
    maxPositionals: 1,
    summary: "Show one MCP server",
    flags: ["json", "config"],
    load: () => import("./get.ts"),
  },
  {
    path: ["mcp", "add"],
    takes: "NAME (-- COMMAND… | --url URL)",
    maxPositionals: Infinity,
    summary: "Add an MCP server to the user's configuration",
    flags: ["env", "url", "bearer-token-env-var", "oauth-client-id", "oauth-resource"],
    load: () => import("./add.ts"),
  },
  {
    path: ["mcp", "remove"],
    takes: "NAME",
    maxPositionals: 1,
    summary: "Remove an MCP server from the user's configuration",
    flags: [],
    load: () => import("./remove.ts"),
  },
  {
    path: ["mcp", "login"],
    takes: "NAME",
    maxPositionals: 1,
    summary: "Log in to an MCP server in a browser",
    flags: ["scopes", "config"],
    load: () => import("./login.ts"),
  },
  {
    path: ["mcp", "logout"],
    takes: "NAME",
    maxPositionals: 1,
    summary: "Remove the login to an MCP server",
    flags: [],
    load: () => import("./logout.ts"),
  },
  {
    path: ["mcp-server"],
    takes: "",
    maxPositionals: Infinity,
    summary: "Removed; agentcli app-server takes its place",
    flags: [],
    load: () => import("./server.ts"),
  },
];
