// The command line as the top of the configuration: which files apply, and the values of the flags.
import { existsSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import type { ConfigOptions, Environment } from "@agentcli/host";
import { type ConfigRequest, defaults, type FlagValue } from "@agentcli/project";
import { nearest } from "@agentcli/project/nearest";
import { explainLimit } from "@agentcli/protocol/system-errors";
import { standardSystemDirectory } from "../environment.ts";

/** `cwd` is where the run works. */
export function configRequest(options: ConfigOptions, cwd: string, environment: Environment): ConfigRequest {
  const { agentHome, systemDirectory } = environment;
  return {
    home: agentHome,
    systemDirectory,
    requirementFiles: requirementFiles(environment),
    cwd,
    profile: options.profile,
    overrides: options.overrides,
    flags: flagValues(options, environment.cwd),
    unknownKeys: options.strictConfig ? "refuse" : "warn",
    userConfig: options.ignoreUserConfig ? "ignored" : "read",
    projectTrust: options.trustProject ? "granted" : "configured",
  };
}

export function requirementFiles({ agentHome, systemDirectory }: Environment): string[] {
  const directories = new Set([standardSystemDirectory, systemDirectory, agentHome]);
  return [...directories].map((directory) => join(directory, "requirements.toml"));
}

/** Warnings about the flags themselves. */
export function flagWarnings({ fullAuto, bypass, moreDirectories }: ConfigOptions, base: string): string[] {
  const missing = moreDirectories.map((directory) => resolve(base, directory)).filter((path) => !existsSync(path));
  return [
    ...missing.map((path) => `--add-dir: the directory ${path} does not exist, so it is not added.`),
    ...(fullAuto ? ["--full-auto is deprecated; use --sandbox workspace-write."] : []),
    ...(bypass ? [`${bypassFlag}: NO SANDBOX AND NO APPROVALS. Commands can change anything on this machine.`] : []),
  ];
}

/** An existing directory, absolute and without symbolic links. */
export function existingDirectory(directory: string, base: string): string {
  const path = resolve(base, directory);
  try {
    if (!statSync(path).isDirectory()) throw new CommandError("usage", `${path} is not a directory.`);
    return realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR")
      throw new CommandError("usage", `The directory ${path} does not exist.`);
    const limit = explainLimit(error);
    throw limit === null ? error : new CommandError("usage", limit);
  }
}

const bypassFlag = "--dangerously-bypass-approvals-and-sandbox";

function flagValues(options: ConfigOptions, base: string): FlagValue[] {
  const { model, moreDirectories } = options;
  const present = moreDirectories.filter((directory) => existsSync(resolve(base, directory)));
  const roots = present.map((directory) => existingDirectory(directory, base));
  return [
    ...(model === undefined ? [] : [{ flag: "--model", key: ["model"], value: model }]),
    ...policyFlags(options),
    ...(options.search ? [{ flag: "--search", key: ["web_search"], value: "live" }] : []),
    ...(roots.length === 0
      ? []
      : [{ flag: "--add-dir", key: ["sandbox_workspace_write", "writable_roots"], items: roots }]),
    ...options.limits.flatMap((text) => text.split(",")).map(limitFlag),
  ];
}

function policyFlags({ sandbox, approval, fullAuto, bypass }: ConfigOptions): FlagValue[] {
  if (bypass) {
    const other = fullAuto ? "--full-auto" : (sandbox && "--sandbox") || (approval && "--ask-for-approval");
    if (other)
      throw new CommandError("usage", `${bypassFlag} and ${other} contradict each other. Leave one of them out.`);
    return [
      { flag: bypassFlag, key: ["sandbox_mode"], value: "danger-full-access" },
      { flag: bypassFlag, key: ["approval_policy"], value: "never" },
    ];
  }
  return [
    ...(fullAuto ? [{ flag: "--full-auto", key: ["sandbox_mode"], value: "workspace-write" }] : []),
    ...(sandbox ? [{ flag: "--sandbox", key: ["sandbox_mode"], value: sandbox }] : []),
    ...(approval ? [{ flag: "--ask-for-approval", key: ["approval_policy"], value: approval }] : []),
  ];
}

/** `name=value`, with the names and values of [limits]. */
function limitFlag(text: string): FlagValue {
  const [, name = "", value = ""] = /^\s*([^=]*?)\s*=\s*(.*?)\s*$/.exec(text) ?? [];
  const names = Object.keys(defaults.limits);
  if (!names.includes(name)) {
    const near = nearest(name, names);
    const hint = near ? `Did you mean ${near}?` : `Limits are ${names.join(", ")}: --limit idle=30s,wall=10m.`;
    throw new CommandError("usage", `--limit ${text}: there is no limit "${name}". ${hint}`);
  }
  const { form, example } = amounts[name] ?? duration;
  if (!form.test(value)) throw new CommandError("usage", `--limit ${text}: write ${example}.`);
  return { flag: "--limit", key: ["limits", name], value: name === "processes" ? Number(value) : value };
}

interface Amount {
  form: RegExp;
  example: string;
}

const duration: Amount = {
  form: /^(\d+(\.\d+)?(ms|s|m|h)|off)$/,
  example: "a duration such as 500ms, 30s, 10m, 1h, or off",
};
const size: Amount = { form: /^(\d+(\.\d+)?[kmgt]?|off)$/i, example: "a size such as 512m, 4g, or off" };
const amounts: Record<string, Amount> = {
  memory: size,
  tmp: size,
  processes: { form: /^[1-9]\d*$/, example: "a number such as 500" },
};
