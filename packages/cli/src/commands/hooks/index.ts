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
