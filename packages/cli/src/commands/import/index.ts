// Takes over what a user has set up for another tool.
import type { Command } from "../../command.ts";

export const importCommands: Command[] = [
  {
    path: ["import"],
    takes: "[--from TOOL] [--since AGE] [--dry-run]",
    maxPositionals: 0,
    summary: "Take over settings, instructions, MCP servers and sessions of Codex and Claude Code",
    flags: ["from", "since", "dry-run", "json"],
    load: () => import("./import.ts"),
  },
];
