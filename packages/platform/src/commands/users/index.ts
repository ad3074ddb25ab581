// Commands about users and their logins.
import type { Command } from "../command.ts";
import { settingFlags } from "../flags.ts";

export const usersCommands: Command[] = [
  {
    path: ["users", "list"],
    takes: "",
    maxPositionals: 0,
    summary: "List the users of a team, or of all teams",
    flags: [...settingFlags, "team", "json"],
    load: () => import("./list.ts"),
  },
  {
    path: ["users", "create"],
    takes: "EMAIL",
    maxPositionals: 1,
    summary: "Create a user in a team",
    flags: [...settingFlags, "team", "user-role"],
    load: () => import("./create.ts"),
    notes: "The first user of a team is its administrator.",
  },
  {
    path: ["users", "set"],
    takes: "EMAIL",
    maxPositionals: 1,
    summary: "Change the role or the spend limit of a user",
    flags: [...settingFlags, "user-role", "spend-limit"],
    load: () => import("./set.ts"),
    notes: `Keys of a user who is no longer an administrator lose the scope admin.

Example:
  platform users set ada@example.com --user-role admin --spend-limit 250`,
  },
  {
    path: ["users", "invite"],
    takes: "EMAIL",
    maxPositionals: 1,
    summary: "Invite a user to a team and print the link",
    flags: [...settingFlags, "team", "user-role"],
    load: () => import("./invite.ts"),
    notes:
      "The link is printed once, works once, and is valid for 7 days. With [oidc] only the owner of the address can use it.",
  },
  {
    path: ["users", "remove"],
    takes: "EMAIL",
    maxPositionals: 1,
    summary: "Remove a user; revokes their keys and ends their sessions",
    flags: settingFlags,
    load: () => import("./remove.ts"),
    notes: "What they created is kept. The only administrator of a team cannot be removed.",
  },
  {
    path: ["users", "end-sessions"],
    takes: "EMAIL",
    maxPositionals: 1,
    summary: "Log a user out everywhere",
    flags: settingFlags,
    load: () => import("./end-sessions.ts"),
  },
  {
    path: ["login-link"],
    takes: "[EMAIL]",
    maxPositionals: 1,
    summary: "Print a link that logs a browser in, as the first administrator unless EMAIL is given",
    flags: settingFlags,
    load: () => import("./login-link.ts"),
    notes: "The link works once, within half an hour. A server must be running.",
  },
];
