// Commands about repositories in the embedded git host.
import type { Command } from "../command.ts";
import { settingFlags } from "../flags.ts";

export const reposCommands: Command[] = [
  {
    path: ["repos", "create"],
    takes: "NAME [--from PATH]",
    maxPositionals: 1,
    summary: "Create a repository in the embedded git host and print its clone URL",
    flags: [...settingFlags, "from", "if-missing", "team"],
    load: () => import("./create.ts"),
    notes: "PATH is a git repository, or a plain directory whose files become the first commit.",
  },
];
