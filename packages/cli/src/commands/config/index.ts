// Commands about the configuration.
import type { Command } from "../../command.ts";
import { configFlags } from "../../run-flags.ts";

export const configCommands: Command[] = [
  {
    path: ["trust"],
    takes: "[DIR]",
    maxPositionals: 1,
    summary: "Trust a project, so that its .agentcli/config.toml is used",
    flags: [],
    load: () => import("./trust.ts"),
  },
  {
    path: ["config", "show"],
    takes: "",
    maxPositionals: 0,
    summary: "Print the effective configuration",
    flags: ["origin", "json", ...configFlags],
    load: () => import("./show.ts"),
  },
];
