// Commands about the configuration.
import type { Command } from "../../command.ts";
import { configFlags } from "../../flags.ts";

export const configCommands: Command[] = [
  {
    path: ["trust"],
    takes: "[DIR]",
    maxPositionals: 1,
    summary: "Trust a project, so that its .agentcli/config.toml is used",
    flags: [],
    load: () => import("./trust.ts"),
    notes: `Without DIR, the project of this directory. Written to config.toml in the agent home:
  [projects."/path/of/the/project"]
  trust_level = "trusted"`,
  },
  {
    path: ["config", "show"],
    takes: "",
    maxPositionals: 0,
    summary: "Print the effective configuration",
    flags: ["origin", "json", ...configFlags],
    load: () => import("./show.ts"),
    notes: "Values that look like secrets are masked.",
  },
];
