// Takes over what a user has set up for another tool.
import type { Command } from "../../command.ts";

export const importCommands: Command[] = [
  {
    path: ["import"],
    takes: "[--from TOOL] [--dry-run]",
    maxPositionals: 0,
    summary: "Take over settings, instructions and MCP servers of Codex and Claude Code",
    flags: ["from", "dry-run", "json"],
    load: () => import("./import.ts"),
    notes: `Reads ~/.codex (or CODEX_HOME) and ~/.claude, writes config.toml, AGENTS.md and rules/imported.rules in the agent
home, and lists what was left out and why. What is set already stays as it is. Credentials, trust, hooks and
danger-full-access are not taken over. Skills, commands and agents of both are read where they are.`,
  },
];
