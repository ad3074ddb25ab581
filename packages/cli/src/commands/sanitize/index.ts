// Cleaning text from outside.
import type { Command } from "../../command.ts";

export const sanitizeCommands: Command[] = [
  {
    path: ["sanitize"],
    takes: "[FILE | -] [--report]",
    maxPositionals: 1,
    summary: "Remove hidden text from untrusted input",
    flags: ["report"],
    load: () => import("./sanitize.ts"),
  },
];
