// Commands about teams.
import type { Command } from "../command.ts";
import { settingFlags } from "../flags.ts";

export const teamsCommands: Command[] = [
  {
    path: ["teams", "list"],
    takes: "",
    maxPositionals: 0,
    summary: "List the teams",
    flags: [...settingFlags, "json"],
    load: () => import("./list.ts"),
  },
  {
    path: ["teams", "create"],
    takes: "NAME",
    maxPositionals: 1,
    summary: "Create a team",
    flags: settingFlags,
    load: () => import("./create.ts"),
  },
  {
    path: ["teams", "set"],
    takes: "NAME",
    maxPositionals: 1,
    summary: "Change the spend limit or the team follow-ups of a team",
    flags: [...settingFlags, "spend-limit", "follow-ups"],
    load: () => import("./set.ts"),
    notes: `Members can read each other's agents. Follow-ups are accepted from owners only (disabled), from the whole team for agents of a
service account (service-accounts), or from the whole team for every agent (all).

Example:
  platform teams set default --follow-ups service-accounts`,
  },
];
