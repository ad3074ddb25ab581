// Commands about the environment that agents of a platform work in.
import type { Command } from "../../command.ts";

export const envCommands: Command[] = [
  {
    path: ["env", "init"],
    takes: "[--force]",
    maxPositionals: 0,
    summary: "Propose .platform/environment.json for this repository",
    flags: ["force", "json", "cd"],
    load: () => import("./init.ts"),
  },
];
