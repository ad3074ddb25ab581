// Commands about the audit log.
import type { Command } from "../command.ts";
import { settingFlags } from "../flags.ts";

export const auditCommands: Command[] = [
  {
    path: ["audit", "verify"],
    takes: "[FILE] [--expect HEAD]",
    maxPositionals: 1,
    summary: "Verify that the audit log is unchanged (exit code 1: it is not, or cannot be proved)",
    flags: [...settingFlags, "expect"],
    load: () => import("./verify.ts"),
    notes: `FILE is an exported log and needs no database, but needs --expect. HEAD is what an earlier verification printed: the log must still contain it.

Examples:
  platform audit verify
  platform audit verify audit.jsonl --expect 1042:0f3c…`,
  },
  {
    path: ["audit", "export"],
    takes: "",
    maxPositionals: 0,
    summary: "Print the audit log, one entry per line, to be verified elsewhere",
    flags: settingFlags,
    load: () => import("./export.ts"),
  },
];
