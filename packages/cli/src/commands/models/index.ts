// Commands about models.
import type { Command } from "../../command.ts";
import type { FlagName } from "../../flags.ts";

const flags: FlagName[] = ["provider", "config", "profile", "cd", "trust-project", "ignore-user-config", "json"];

export const modelsCommands: Command[] = [
  {
    path: ["models", "try"],
    takes: "MODEL",
    maxPositionals: 1,
    summary: "Ask a model one small question and have it call a tool",
    flags,
    load: () => import("./try.ts"),
  },
  {
    path: ["models"],
    takes: "",
    maxPositionals: 0,
    summary: "List the models that the configured providers offer",
    flags,
    load: () => import("./list.ts"),
  },
];
