// Commands about invitations.
import type { Command } from "../command.ts";
import { settingFlags } from "../flags.ts";

export const invitationsCommands: Command[] = [
  {
    path: ["invitations", "list"],
    takes: "",
    maxPositionals: 0,
    summary: "List pending invitations",
    flags: [...settingFlags, "json"],
    load: () => import("./list.ts"),
  },
  {
    path: ["invitations", "revoke"],
    takes: "ID",
    maxPositionals: 1,
    summary: "Revoke an invitation",
    flags: settingFlags,
    load: () => import("./revoke.ts"),
  },
];
