// Commands about hooks.
import type { Command } from "../../command.ts";

export const hooksCommands: Command[] = [
  {
    path: ["hooks", "list"],
    aliases: [["hooks"]],
    takes: "",
    maxPositionals: 0,
    summary: "List the hooks of this directory and whether each would run",
    flags: ["effective", "json", "cd", "config", "profile", "ignore-user-config", "trust-project"],
    load: () => import("./list.ts"),
  },
  {
    path: ["hooks", "trust"],
    takes: "[KEY… | --all]",
    maxPositionals: Number.MAX_SAFE_INTEGER,
    summary: "Trust hooks in their current form",
    flags: ["all", "unpinned", "cd"],
    load: () => import("./trust.ts"),
    notes: `A hook that is changed afterwards, or whose files are, has to be trusted again. Hooks run from a private copy
of the files that they run. A command whose files cannot be determined (npm run, make, $VARIABLE, …) is refused:
an agent could change what it runs. With --unpinned it is trusted all the same, and every run reports it.
Written to config.toml in the agent home, under [hooks.state].`,
  },
  {
    path: ["hooks", "untrust"],
    takes: "KEY… | --all",
    maxPositionals: Number.MAX_SAFE_INTEGER,
    summary: "Revoke the trust in hooks",
    flags: ["all"],
    load: () => import("./untrust.ts"),
  },
];
