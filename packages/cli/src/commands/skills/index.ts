// Commands about skills.
import type { Command } from "../../command.ts";

export const skillsCommands: Command[] = [
  {
    path: ["skills", "list"],
    aliases: [["skills"]],
    takes: "[--json]",
    maxPositionals: 0,
    summary: "Show the skills a run here would have",
    flags: ["json"],
    load: () => import("./list.ts"),
  },
  {
    path: ["skills", "check"],
    takes: "[PATH]",
    maxPositionals: 1,
    summary: "Check skills against the agent-skills rules",
    flags: ["json"],
    load: () => import("./check.ts"),
  },
];
