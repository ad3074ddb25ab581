// A client's settings for a thread or a turn, as the options of a run.
import type { Run, RunOptions } from "@agentcli/host";
import type { TurnSettings } from "@agentcli/protocol";
import type { AskForApproval, SandboxMode, SandboxPolicy } from "@agentcli/protocol/app-server";
import { invalidRequest } from "../method.ts";

type Maybe<Value> = Value | null | undefined;

export interface SettingsChange {
  model?: Maybe<string>;
  modelProvider?: Maybe<string>;
  cwd?: Maybe<string>;
  approvalPolicy?: Maybe<AskForApproval>;
  sandbox?: Maybe<SandboxMode>;
  sandboxPolicy?: Maybe<SandboxPolicy>;
  config?: Maybe<Record<string, unknown>>;
  effort?: Maybe<string>;
  summary?: Maybe<string>;
  serviceTier?: Maybe<string>;
}

export function withChange(options: RunOptions, change: SettingsChange): RunOptions {
  const { model, modelProvider, cwd, approvalPolicy, sandbox, config, effort, summary, serviceTier } = change;
  return withPolicy(
    {
      ...options,
      ...(model && { model }),
      ...(cwd && { directory: cwd }),
      ...(approvalPolicy && { approval: approvalOf(approvalPolicy) }),
      ...(sandbox && { sandbox }),
      overrides: withKeys(options.overrides, [
        ...Object.entries(config ?? {}).flatMap(([key, value]) => flatten(key, value)),
        ["model_provider", modelProvider],
        ["model_reasoning_effort", effort],
        ["model_reasoning_summary", summary],
        ["service_tier", serviceTier],
      ]),
    },
    change.sandboxPolicy,
  );
}

/** Whether the request differs from the thread's settings. */
export const hasChange = (change: SettingsChange): boolean =>
  Object.values(change).some((value) => value !== undefined && value !== null);

/** What the thread has is what it keeps, whatever a single turn was opened with. */
export const keepSettings = (options: RunOptions, settings: TurnSettings): RunOptions => ({
  ...options,
  model: settings.model,
  directory: settings.cwd,
  sandbox: settings.sandbox,
  approval: settings.approval,
  fullAuto: false,
  bypass: false,
  overrides: withKeys(options.overrides, [
    ["model_provider", settings.provider],
    ["model_reasoning_effort", settings.effort],
  ]),
});

function withPolicy(options: RunOptions, policy: Maybe<SandboxPolicy>): RunOptions {
  if (!policy) return options;
  switch (policy.type) {
    case "readOnly":
      return { ...options, sandbox: "read-only", moreDirectories: [] };
    // The environment is the sandbox already.
    case "externalSandbox":
    case "dangerFullAccess":
      return { ...options, sandbox: "danger-full-access", moreDirectories: [] };
    case "workspaceWrite":
      return {
        ...options,
        sandbox: "workspace-write",
        moreDirectories: policy.writableRoots ?? [],
        overrides: withKeys(options.overrides, [
          ["sandbox_workspace_write.network_access", policy.networkAccess === true],
        ]),
      };
  }
}

/** A policy by parts is as wide as its narrowest part allows. */
function approvalOf(policy: AskForApproval): string {
  if (policy === "untrusted") {
    throw invalidRequest(
      'approvalPolicy "untrusted" is not supported by agentcli. Use "on-request", and prompting rules for commands that need a person.',
    );
  }
  if (typeof policy === "string") return policy;
  const { sandbox_approval: sandbox, rules, mcp_elicitations: elicitations } = policy.granular;
  return sandbox && rules && elicitations ? "on-request" : "never";
}

type KeyValue = [key: string, value: unknown];

/** Tables become dotted keys, as `-c` takes them. */
function flatten(key: string, value: unknown): KeyValue[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [[key, value]];
  return Object.entries(value).flatMap(([name, inner]) => flatten(`${key}.${name}`, inner));
}

/** Each key once, the last value wins; an absent value changes nothing. */
function withKeys(overrides: string[], values: KeyValue[]): string[] {
  const given = values.filter(([, value]) => value !== undefined && value !== null);
  const isNew = (text: string) => !given.some(([key]) => text.startsWith(`${key}=`));
  return [...overrides.filter(isNew), ...given.map(([key, value]) => `${key}=${JSON.stringify(value)}`)];
}

export function wireSandbox({ settings, promptEnvironment }: Run): SandboxPolicy {
  switch (settings.sandbox) {
    case "read-only":
      return { type: "readOnly", networkAccess: false };
    case "danger-full-access":
      return { type: "dangerFullAccess" };
    case "workspace-write":
      return {
        type: "workspaceWrite",
        writableRoots: promptEnvironment.writableRoots.filter((root) => root !== settings.cwd),
        networkAccess: promptEnvironment.network,
        excludeTmpdirEnvVar: false,
        excludeSlashTmp: false,
      };
  }
}
