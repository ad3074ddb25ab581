// What a run was asked to be: the configuration as its flags leave it; a resumed thread keeps its own policy.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import type { ConfigOptions, Environment } from "@agentcli/host";
import { practice } from "@agentcli/models";
import { describeOrigin, type EffectiveConfig, type LoadedConfig, loadConfig, refusalOf } from "@agentcli/project";
import type { ApprovalPolicy, Config, SandboxMode, TurnSettings } from "@agentcli/protocol";
import { homeWarnings } from "./home-warnings.ts";
import { configRequest, existingDirectory, flagWarnings } from "./request.ts";

export interface Settled {
  /** Without `compactAt`, which needs to know the model. */
  settings: TurnSettings;
  loaded: LoadedConfig;
  warnings: string[];
}

/** `recorded` are the settings of the thread that is continued. */
export async function settle(
  options: ConfigOptions,
  environment: Environment,
  recorded: TurnSettings | null,
): Promise<Settled> {
  const cwd = workingDirectory(options, environment, recorded);
  const loaded = await loadConfig(configRequest(options, cwd, environment));
  const { config, overridden } = loaded;
  const sandbox = choosePolicy("sandbox_mode", sandboxModes, loaded, recorded?.sandbox);
  const approval = choosePolicy("approval_policy", approvalPolicies, loaded, recorded?.approval);
  const settings: TurnSettings = {
    ...chooseModel(options, loaded, recorded),
    effort: overridden.model_reasoning_effort ?? recorded?.effort ?? config.model_reasoning_effort,
    cwd,
    shell: userShell(environment, cwd),
    sandbox: sandbox.value,
    approval: approval.value,
  };
  const policy = [...sandbox.warnings, ...approval.warnings];
  const warnings = [
    ...flagWarnings(options, environment.cwd),
    ...homeWarnings(environment.agentHome),
    ...loaded.warnings,
    ...policy,
    ...idleFlags(options, settings),
  ];
  return { settings, loaded, warnings };
}

/** A thread goes on where it was: a link that is there now leads to what it was never allowed to change. */
function workingDirectory({ directory }: ConfigOptions, { cwd }: Environment, recorded: TurnSettings | null): string {
  if (recorded && directory === undefined && !existsSync(recorded.cwd))
    throw directoryChanged(recorded.cwd, "no longer exists");
  const found = existingDirectory(directory ?? recorded?.cwd ?? ".", cwd);
  const isOwn = directory === undefined || resolve(cwd, directory) === recorded?.cwd;
  if (recorded && isOwn && found !== recorded.cwd) throw directoryChanged(recorded.cwd, `is now a link to ${found}`);
  return found;
}

const directoryChanged = (directory: string, change: string) =>
  new CommandError("usage", `The directory of this session, ${directory}, ${change}. Use another: --cd DIR.`);

/** A thread continues with its model, unless the command line names another. */
function chooseModel(options: ConfigOptions, { config, overridden }: LoadedConfig, recorded: TurnSettings | null) {
  const configured = (options.purpose === "review" && config.review_model) || config.model;
  const model = overridden.model ?? recorded?.model ?? configured;
  if (model.trim() === "") throw new CommandError("usage", "The model name is empty. Give one with --model MODEL.");
  if (model === practice) return { model, provider: practice };
  const kept = options.model === undefined && recorded?.provider !== practice ? recorded?.provider : undefined;
  return { model, provider: overridden.model_provider ?? kept ?? config.model_provider };
}

// From strict to wide.
const sandboxModes: SandboxMode[] = ["read-only", "workspace-write", "danger-full-access"];
const approvalPolicies: ApprovalPolicy[] = ["never", "on-request"];

interface Chosen<Value> {
  value: Value;
  warnings: string[];
}

/** A file may narrow what a thread was allowed, a default changes nothing; only the command line may widen it. */
function choosePolicy<Key extends "sandbox_mode" | "approval_policy">(
  key: Key,
  fromStrict: EffectiveConfig[Key][],
  { config, overridden, origins, requirements }: LoadedConfig,
  recorded: EffectiveConfig[Key] | undefined,
): Chosen<EffectiveConfig[Key]> {
  const configured = config[key];
  if (recorded === undefined || overridden[key] !== undefined) return { value: configured, warnings: [] };
  if (!fromStrict.includes(recorded)) throw unknownRecorded(key, recorded);
  const origin = origins.get(key) ?? { kind: "default" };
  const isChosen = origin.kind !== "default" && origin.kind !== "requirement";
  const widening = isChosen ? fromStrict.indexOf(configured) - fromStrict.indexOf(recorded) : 0;
  const difference = `the thread had ${key} = ${recorded}, ${describeOrigin(origin)} says ${configured}`;
  if (widening < 0) return { value: configured, warnings: [`${difference}: narrowed.`] };
  const refused = refusalOf(requirements, key, recorded, "The resumed thread");
  if (refused) throw new CommandError("usage", `${refused} Choose one of them with a flag.`);
  // Otherwise one line in a session file would be enough to run without a sandbox.
  if (recorded === "danger-full-access" && !(isChosen && configured === recorded)) throw needsFlagAgain();
  return { value: recorded, warnings: widening > 0 ? [`${difference}: kept. Only a flag or -c widens it.`] : [] };
}

const unknownRecorded = (key: string, recorded: unknown): CommandError =>
  new CommandError(
    "usage",
    `The session file has ${key} = ${JSON.stringify(recorded)}, which is not a known value. The file was changed or damaged: choose a value with a flag, or start a new session.`,
  );

const needsFlagAgain = (): CommandError =>
  new CommandError(
    "usage",
    "This session ran with danger-full-access, which has to be asked for again: give --sandbox danger-full-access to go on without a sandbox, or another --sandbox (in requests of the app server: sandbox).",
  );

function idleFlags({ moreDirectories }: ConfigOptions, { sandbox }: TurnSettings): string[] {
  if (moreDirectories.length === 0 || sandbox === "workspace-write") return [];
  return [`--add-dir changes nothing in ${sandbox}; it is for --sandbox workspace-write.`];
}

/** A shell whose language commands are written in; fish and others would misread them. */
function userShell({ variables: { SHELL: shell }, programs }: Environment, cwd: string): string {
  const isUsable = shell && /^\/(.*\/)?(bash|zsh|sh)$/.test(shell) && existsSync(shell);
  // Hooks run in it, outside of the sandbox.
  programs.distrust([cwd]);
  if (isUsable && programs.isTrusted(shell)) return shell;
  return existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";
}

/** The history is summarised before it fills the window. */
export const compactAt = (config: Config, contextWindow: number): number =>
  Math.min(
    config.model_auto_compact_token_limit ?? Infinity,
    Math.floor((config.model_context_window ?? contextWindow) * 0.9),
  );
