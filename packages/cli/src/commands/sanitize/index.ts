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
    notes: `Removes invisible characters, HTML comments and hidden elements, titles and descriptions that are not shown.

Example:
  gh issue view 7 --json body --jq .body | agentcli sanitize --report`,
  },
];
