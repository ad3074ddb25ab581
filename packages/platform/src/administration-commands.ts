// Rows of the command table for whoever looks after a platform.
import type { Command } from "./commands.ts";
import { settingFlags } from "./flags.ts";

export const administrationCommands: Command[] = [
  {
    path: ["users", "list"],
    takes: "",
    mostPositionals: 0,
    summary: "List the users of a team, or of all",
    flags: [...settingFlags, "team", "json"],
    load: () => import("./commands/users-list.ts"),
  },
  {
    path: ["users", "create"],
    takes: "EMAIL",
    mostPositionals: 1,
    summary: "Make a user of a team",
    flags: [...settingFlags, "team", "user-role"],
    load: () => import("./commands/users-create.ts"),
    notes: "The first user of a team is its administrator.",
  },
  {
    path: ["users", "set"],
    takes: "EMAIL",
    mostPositionals: 1,
    summary: "Change the role or the spend limit of a user",
    flags: [...settingFlags, "user-role", "spend-limit"],
    load: () => import("./commands/users-set.ts"),
    notes: `Keys of a user who is no longer an administrator lose the scope admin.

Example:
  platform users set ada@example.com --user-role admin --spend-limit 250`,
  },
  {
    path: ["users", "invite"],
    takes: "EMAIL",
    mostPositionals: 1,
    summary: "Invite somebody to a team and print the link",
    flags: [...settingFlags, "team", "user-role"],
    load: () => import("./commands/users-invite.ts"),
    notes: "It is printed once, works once, and is good for 7 days. With [oidc] only the owner of the address gets in.",
  },
  {
    path: ["users", "remove"],
    takes: "EMAIL",
    mostPositionals: 1,
    summary: "Remove a user; ends their keys and sessions",
    flags: settingFlags,
    load: () => import("./commands/users-remove.ts"),
    notes: "What they made stays. The only administrator of a team cannot be removed.",
  },
  {
    path: ["users", "end-sessions"],
    takes: "EMAIL",
    mostPositionals: 1,
    summary: "Log a user out everywhere",
    flags: settingFlags,
    load: () => import("./commands/users-end-sessions.ts"),
  },
  {
    path: ["invitations", "list"],
    takes: "",
    mostPositionals: 0,
    summary: "List the invitations that wait",
    flags: [...settingFlags, "json"],
    load: () => import("./commands/invitations-list.ts"),
  },
  {
    path: ["invitations", "revoke"],
    takes: "ID",
    mostPositionals: 1,
    summary: "Take an invitation back",
    flags: settingFlags,
    load: () => import("./commands/invitations-revoke.ts"),
  },
  {
    path: ["teams", "list"],
    takes: "",
    mostPositionals: 0,
    summary: "List the teams",
    flags: [...settingFlags, "json"],
    load: () => import("./commands/teams-list.ts"),
  },
  {
    path: ["teams", "create"],
    takes: "NAME",
    mostPositionals: 1,
    summary: "Make a team",
    flags: settingFlags,
    load: () => import("./commands/teams-create.ts"),
  },
  {
    path: ["teams", "set"],
    takes: "NAME",
    mostPositionals: 1,
    summary: "Change the spend limit or the team follow-ups of a team",
    flags: [...settingFlags, "spend-limit", "follow-ups"],
    load: () => import("./commands/teams-set.ts"),
    notes: `Members read each other's agents. Follow-ups are for owners (disabled), for the whole team where the agent belongs to a
service account (service-accounts), or for the whole team everywhere (all).

Example:
  platform teams set default --follow-ups service-accounts`,
  },
  {
    path: ["backup"],
    takes: "FILE",
    mostPositionals: 1,
    summary: "Write everything into one file; servers may go on meanwhile",
    flags: [...settingFlags, "passphrase-file"],
    load: () => import("./commands/backup.ts"),
    notes: `With a passphrase the whole file is sealed and the key-encryption key is in it. Without one that key is not: keep it
elsewhere. Configuration is left out.`,
  },
  {
    path: ["restore"],
    takes: "FILE",
    mostPositionals: 1,
    summary: "Bring a backup back, into an empty data directory and database",
    flags: [...settingFlags, "passphrase-file"],
    load: () => import("./commands/restore.ts"),
    notes:
      "The file is read to its end before anything is changed. Runs that were under way go on with the next serve.",
  },
  {
    path: ["rotate-kek"],
    takes: "",
    mostPositionals: 0,
    summary: "Wrap all data keys with a new key-encryption key; servers must be stopped",
    flags: settingFlags,
    load: () => import("./commands/rotate-kek.ts"),
  },
  {
    path: ["audit", "verify"],
    takes: "[FILE] [--expect HEAD]",
    mostPositionals: 1,
    summary: "Say whether the audit log is as it was written (exit code 1: it is not)",
    flags: [...settingFlags, "expect"],
    load: () => import("./commands/audit-verify.ts"),
    notes: `FILE is an exported log and needs no database. HEAD is what an earlier look printed: the log must still hold it.

Examples:
  platform audit verify
  platform audit verify audit.jsonl --expect 1042:0f3c…`,
  },
  {
    path: ["audit", "export"],
    takes: "",
    mostPositionals: 0,
    summary: "Print the audit log, an entry a line, so that it can be verified elsewhere",
    flags: settingFlags,
    load: () => import("./commands/audit-export.ts"),
  },
];
