// What a run was asked to be: flags over -c over config.toml over defaults; a resumed thread keeps its own policy.
import { existsSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { LoadedConfig } from "@agentcli/project";
import type { Config, SandboxMode, TurnSettings } from "@agentcli/protocol";
import type { Environment } from "./environment.ts";
import { Problem } from "./problem.ts";
import { practice } from "./provider.ts";
import type { RunOptions } from "./run-options.ts";

const defaultModel = "gpt-5.4";

/** Without `compactAt`, which needs to know the model. */
export function resolveSettings(
  options: RunOptions,
  loaded: LoadedConfig,
  environment: Environment,
  recorded: TurnSettings | null,
): TurnSettings {
  const { config, overridden } = loaded;
  return {
    ...chooseModel(options, loaded, recorded),
    effort: overridden.model_reasoning_effort ?? recorded?.effort ?? config.model_reasoning_effort,
    cwd: workingDirectory(options.directory ?? recorded?.cwd ?? ".", environment.cwd),
    shell: userShell(environment.variables.SHELL),
    sandbox: chooseSandbox(options, loaded, recorded),
    approval: "never",
  };
}

/** A thread goes on with the model it had, unless the command line names another. */
function chooseModel(options: RunOptions, { config, overridden }: LoadedConfig, recorded: TurnSettings | null) {
  const model = options.model ?? overridden.model ?? recorded?.model ?? config.model ?? defaultModel;
  if (model === practice) return { model, provider: practice };
  const kept = options.model === undefined && recorded?.provider !== practice ? recorded?.provider : undefined;
  return {
    model,
    provider: options.provider ?? overridden.model_provider ?? kept ?? config.model_provider ?? "openai",
  };
}

/** A file may narrow what a thread was allowed; only the command line may widen it. */
function chooseSandbox(
  options: RunOptions,
  { config, overridden }: LoadedConfig,
  recorded: TurnSettings | null,
): SandboxMode {
  const asked = (options.sandbox as SandboxMode | undefined) ?? overridden.sandbox_mode;
  if (asked) return asked;
  if (!recorded) return config.sandbox_mode ?? "read-only";
  if (!config.sandbox_mode) return recorded.sandbox;
  return strictness[config.sandbox_mode] > strictness[recorded.sandbox] ? config.sandbox_mode : recorded.sandbox;
}

const strictness: Record<SandboxMode, number> = { "danger-full-access": 0, "workspace-write": 1, "read-only": 2 };

function workingDirectory(directory: string, base: string): string {
  const path = isAbsolute(directory) ? directory : resolve(base, directory);
  if (!existsSync(path)) throw new Problem("usage", `The directory ${path} does not exist.`);
  if (!statSync(path).isDirectory()) throw new Problem("usage", `${path} is not a directory.`);
  return realpathSync(path);
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
