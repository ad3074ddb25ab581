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
    notes: `PATH is a SKILL.md, the folder of a skill, or a folder with skills below it; without it, all skills of a run here.
Each problem is a line FILE:LINE: severity: message. Exit code 1 when a skill breaks a rule.`,
  },
];
