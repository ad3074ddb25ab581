// Rows of the command table for whoever looks after a platform.
import type { Command } from "./commands.ts";
import { settingFlags } from "./flags.ts";

export const administrationCommands: Command[] = [
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
