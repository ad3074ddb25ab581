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
    notes: `Two requests of a few tokens, which the provider charges for. Exit code 0 when both work.

Examples:
  agentcli models try gpt-5-mini
  agentcli models try --provider ollama qwen3-coder:30b`,
  },
  {
    path: ["models"],
    takes: "",
    maxPositionals: 0,
    summary: "List the models that the configured providers offer",
    flags,
    load: () => import("./list.ts"),
    notes: `Asks the provider of the configuration, those of model_providers, and those whose key is in the environment.
Context windows are those that the provider states, otherwise the ones that a run would assume.`,
  },
];
