// What a run was asked to be: the configuration as its flags leave it; a resumed thread keeps its own policy.
import { existsSync } from "node:fs";
import { type LoadedConfig, loadConfig, refusalOf } from "@agentcli/project";
import type { ApprovalPolicy, Config, SandboxMode, TurnSettings } from "@agentcli/protocol";
import { configRequest, existingDirectory, flagWarnings } from "./config-request.ts";
import type { Environment } from "./environment.ts";
import { Problem } from "./problem.ts";
import { practice } from "./provider.ts";
import type { ConfigOptions } from "./run-options.ts";

export interface Settled {
  /** Without `compactAt`, which needs to know the model. */
  settings: TurnSettings;
  loaded: LoadedConfig;
  warnings: string[];
}

/** `recorded` are the settings of the thread that goes on. */
export async function settle(
  options: ConfigOptions,
  environment: Environment,
  recorded: TurnSettings | null,
): Promise<Settled> {
  const cwd = existingDirectory(options.directory ?? recorded?.cwd ?? ".", environment.cwd);
  const loaded = await loadConfig(configRequest(options, cwd, environment));
  const { config, overridden } = loaded;
  const settings: TurnSettings = {
    ...chooseModel(options, loaded, recorded),
    effort: overridden.model_reasoning_effort ?? recorded?.effort ?? config.model_reasoning_effort,
    cwd,
    shell: userShell(environment.variables.SHELL),
    sandbox: choosePolicy("sandbox_mode", sandboxModes, loaded, recorded?.sandbox),
    approval: choosePolicy("approval_policy", approvalPolicies, loaded, recorded?.approval),
  };
  const warnings = [...flagWarnings(options), ...loaded.warnings, ...idleFlags(options, settings)];
  return { settings, loaded, warnings };
}

/** A thread goes on with the model it had, unless the command line names another. */
function chooseModel(options: ConfigOptions, { config, overridden }: LoadedConfig, recorded: TurnSettings | null) {
  const model = overridden.model ?? recorded?.model ?? config.model;
  if (model === practice) return { model, provider: practice };
  const kept = options.model === undefined && recorded?.provider !== practice ? recorded?.provider : undefined;
  return { model, provider: overridden.model_provider ?? kept ?? config.model_provider };
}

// From strict to wide.
const sandboxModes: SandboxMode[] = ["read-only", "workspace-write", "danger-full-access"];
const approvalPolicies: ApprovalPolicy[] = ["never", "on-request"];

/** A file may narrow what a thread was allowed, a default changes nothing; only the command line may widen it. */
function choosePolicy<Key extends "sandbox_mode" | "approval_policy">(
  key: Key,
  fromStrict: LoadedConfig["config"][Key][],
  { config, overridden, origins, requirements }: LoadedConfig,
  recorded: LoadedConfig["config"][Key] | undefined,
): LoadedConfig["config"][Key] {
  const configured = config[key];
  if (recorded === undefined || overridden[key] !== undefined) return configured;
  const { kind } = origins.get(key) ?? { kind: "default" };
  const isChosen = kind !== "default" && kind !== "requirement";
  const narrows = isChosen && fromStrict.indexOf(configured) < fromStrict.indexOf(recorded);
  if (narrows) return configured;
  const refused = refusalOf(requirements, key, recorded, "The resumed thread");
  if (refused) throw new Problem("usage", `${refused} Choose one of them with a flag.`);
  return recorded;
}

function idleFlags({ moreDirectories }: ConfigOptions, { sandbox }: TurnSettings): string[] {
  if (moreDirectories.length === 0 || sandbox === "workspace-write") return [];
  return [`--add-dir changes nothing in ${sandbox}; it is for --sandbox workspace-write.`];
}

/** A shell whose language commands are written in; fish and others would misread them. */
function userShell(shell: string | undefined): string {
  const usable = shell && /\/(bash|zsh|sh)$/.test(shell) && existsSync(shell);
  if (usable) return shell;
  return existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";
}

/** The history is summarised before it fills the window. */
export const compactAt = (config: Config, contextWindow: number): number =>
  Math.min(
    config.model_auto_compact_token_limit ?? Infinity,
    Math.floor((config.model_context_window ?? contextWindow) * 0.9),
  );
