// Every command in one table: what it is called, what it takes, and the file that carries it out.

import type { Invocation } from "./args.ts";
import { type FlagName, runFlags } from "./flags.ts";
import type { Program } from "./program.ts";

export interface Command {
  /** The words that name it. */
  path: string[];
  aliases?: string[][];
  /** What follows the words, for the help: PROMPT, [ID] … */
  takes: string;
  mostPositionals: number;
  summary: string;
  flags: FlagName[];
  /** Loaded only when called. */
  load(): Promise<{ run(invocation: Invocation, program: Program): Promise<number> }>;
  /** Lines shown under the flags. */
  notes?: string;
}

export const commands: Command[] = [
  {
    path: ["mcp", "list"],
    takes: "",
    mostPositionals: 0,
    summary: "List the configured MCP servers",
    flags: ["json", "config"],
    load: () => import("./commands/mcp-list.ts"),
  },
  {
    path: ["mcp", "get"],
    takes: "NAME",
    mostPositionals: 1,
    summary: "Show one MCP server",
    flags: ["json", "config"],
    load: () => import("./commands/mcp-get.ts"),
  },
  {
    path: ["mcp", "add"],
    takes: "NAME (-- COMMAND… | --url URL)",
    mostPositionals: Infinity,
    summary: "Add an MCP server to the user's configuration",
    flags: ["env", "url", "bearer-token-env-var", "oauth-client-id", "oauth-resource"],
    load: () => import("./commands/mcp-add.ts"),
    notes: `Examples:
  agentcli mcp add files --env LOG=1 -- npx -y @modelcontextprotocol/server-filesystem .
  agentcli mcp add tracker --url https://mcp.example.com/mcp --bearer-token-env-var TRACKER_TOKEN`,
  },
  {
    path: ["mcp", "remove"],
    takes: "NAME",
    mostPositionals: 1,
    summary: "Take an MCP server out of the user's configuration",
    flags: [],
    load: () => import("./commands/mcp-remove.ts"),
  },
  {
    path: ["mcp", "login"],
    takes: "NAME",
    mostPositionals: 1,
    summary: "Log in to an MCP server in a browser",
    flags: ["scopes", "config"],
    load: () => import("./commands/mcp-login.ts"),
  },
  {
    path: ["mcp", "logout"],
    takes: "NAME",
    mostPositionals: 1,
    summary: "Forget the login to an MCP server",
    flags: [],
    load: () => import("./commands/mcp-logout.ts"),
  },
  {
    path: ["mcp-server"],
    takes: "",
    mostPositionals: Infinity,
    summary: "Removed; agentcli app-server takes its place",
    flags: [],
    load: () => import("./commands/mcp-server.ts"),
  },
  {
    path: ["exec", "resume"],
    aliases: [["e", "resume"]],
    takes: "ID | --last [--all] [PROMPT | -]",
    mostPositionals: 2,
    summary: "Go on with an earlier session",
    flags: ["last", "all", ...runFlags],
    load: () => import("./commands/resume.ts"),
    notes: `With --last the one argument is the prompt. Without a prompt, a turn that was cut off goes on.
A resumed thread keeps its directory, model and sandbox; flags change them.

Examples:
  agentcli exec resume --last "now add a test for it"
  agentcli exec resume --last`,
  },
  {
    path: ["exec"],
    aliases: [["e"]],
    takes: "[PROMPT | -]",
    mostPositionals: 1,
    summary: "Carry out one prompt in a sandbox and print the final message",
    flags: runFlags,
    load: () => import("./commands/exec.ts"),
    notes: `The prompt is the argument, or standard input with -. What is piped in beside an argument is context for it.
Progress is on standard error, the final message alone on standard output.

Exit codes: 0 completed, 1 failed, 2 usage or configuration, 3 credentials, 4 provider unavailable,
6 a limit, 8 no sandbox, 11 no final message, 130 interrupted.

Examples:
  agentcli exec -s workspace-write "fix the failing test"
  git diff | agentcli exec "write a commit message for this diff"
  agentcli exec --json -o summary.txt "list the public functions"`,
  },
];
