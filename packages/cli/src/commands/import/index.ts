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
  },
];
