// What was asked of a local agent, made whole: what is missing is filled in, what cannot be is refused.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { sizeForm } from "@agentcli/host";
import { ConfigurationError } from "../errors.ts";
import type { CustomTool, LocalAgentOptions, LocalProvider, SettingSource } from "../local-options.ts";
import type { AgentOptions } from "../options.ts";
import type { Machine } from "./machine.ts";
import { checkToolNames } from "./tools/index.ts";

export interface ResolvedOptions {
  /** Undefined where the agent knows best. */
  cwd: string | undefined;
  dirs: string[];
  sources: Set<"project" | "user" | "mdm">;
  /** Undefined: as the agent had it before. */
  sandbox: "workspace-write" | "none" | undefined;
  limits: SandboxLimits;
  customTools: Record<string, CustomTool>;
  retries: "some" | "none";
  provider: LocalProvider | undefined;
}

export function resolveOptions(options: AgentOptions, machine: Machine, operation: string): ResolvedOptions {
  const { local = {}, tools = [], disallowedTools = [] } = options;
  if (local.autoReview)
    throw invalid("autoReview is not supported. Gate calls with hooks (beforeShellExecution, preToolUse).", operation);
  if (options.systemPrompt?.trim() === "")
    throw invalid("systemPrompt is empty. Leave it out to use the default one.", operation);
  if (Array.isArray(local.cwd)) throw invalid("local.cwd is one directory. Name others in local.dirs.", operation);
  checkToolNames([...tools, ...disallowedTools], operation);
  const directory = (path: string, name: string) => existingDirectory(resolve(machine.cwd(), path), name, operation);
  return {
    cwd: local.cwd === undefined ? undefined : directory(local.cwd, "local.cwd"),
    dirs: (local.dirs ?? []).map((path) => directory(path, "local.dirs")),
    sources: sourcesOf(local.settingSources ?? ["project"], operation),
    sandbox: sandboxOf(local.sandboxOptions?.enabled),
    limits: checkLimits(local.sandboxOptions?.limits ?? {}, operation),
    customTools: local.customTools ?? {},
    retries: local.enableAgentRetries === false ? "none" : "some",
    provider: local.provider,
  };
}

function sandboxOf(isEnabled: boolean | undefined): ResolvedOptions["sandbox"] {
  if (isEnabled === undefined) return undefined;
  return isEnabled ? "workspace-write" : "none";
}

export type SandboxLimits = NonNullable<NonNullable<LocalAgentOptions["sandboxOptions"]>["limits"]>;

function checkLimits(limits: SandboxLimits, operation: string): SandboxLimits {
  const { memory = "off", tmp = "off", processes = 1 } = limits;
  if (sizeForm.test(memory) && sizeForm.test(tmp) && Number.isInteger(processes) && processes > 0) return limits;
  throw invalid(
    `local.sandboxOptions.limits: ${JSON.stringify(limits)} is not valid. Write sizes such as 512m, 4g or off, and a positive number of processes.`,
    operation,
  );
}

const known: Record<SettingSource, ("project" | "user" | "mdm")[]> = {
  project: ["project"],
  user: ["user"],
  mdm: ["mdm"],
  // Nothing of a team or of plugins is kept on this machine.
  team: [],
  plugins: [],
  all: ["project", "user", "mdm"],
};

function sourcesOf(names: SettingSource[], operation: string): ResolvedOptions["sources"] {
  const unknown = names.find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined)
    throw invalid(
      `local.settingSources: unknown source ${JSON.stringify(unknown)}. Available: ${Object.keys(known).join(", ")}.`,
      operation,
    );
  return new Set(names.flatMap((name) => known[name]));
}

export function existingDirectory(path: string, name: string, operation: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw invalid(`${name}: ${path} is not a directory.`, operation);
}

export const invalid = (message: string, operation: string): ConfigurationError =>
  new ConfigurationError(message, { code: "invalid_option", operation });
