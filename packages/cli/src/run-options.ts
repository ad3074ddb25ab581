// What exec, resume and their like are told on the command line.
import type { LocalProvider, Tags } from "@agentcli/protocol";
import type { Invocation } from "./args.ts";
import { Problem } from "./problem.ts";
import type { LeastBackEnd } from "./sandbox-choice.ts";
import { parseTags } from "./sessions/tags.ts";

export interface RunOptions extends ConfigOptions {
  outputFile?: string;
  outputSchemaFile?: string;
  skipGitCheck: boolean;
  ephemeral: boolean;
  budget: string[];
  /** What to do when the provider says to come back later. */
  onLimit?: "wait" | "stop";
  images: string[];
  tags: Tags;
  /** A model server on this machine: this one, or whichever answers. */
  local: LocalProvider | "any" | null;
  /** Chosen by a flag, over what is configured. */
  provider?: string;
  ignoreRules: boolean;
  /** Definition hashes of hooks that may run. */
  trustHooks: string[];
  /** Hooks run whether or not anybody trusts them. */
  bypassHookTrust: boolean;
}

/** What decides the configuration of a run, or of the answer to what it would be. */
export interface ConfigOptions {
  model?: string;
  /** A review may have a model of its own. */
  purpose?: "review";
  sandbox?: string;
  sandboxMin?: LeastBackEnd;
  approval?: string;
  fullAuto: boolean;
  /** No sandbox and no approvals. */
  bypass: boolean;
  directory?: string;
  moreDirectories: string[];
  profile?: string;
  overrides: string[];
  limits: string[];
  strictConfig: boolean;
  ignoreUserConfig: boolean;
  trustProject: boolean;
}

export const configOptions = ({ text, has, list }: Invocation): ConfigOptions => ({
  model: text("model"),
  sandbox: text("sandbox"),
  approval: text("ask-for-approval"),
  fullAuto: has("full-auto"),
  bypass: has("dangerously-bypass-approvals-and-sandbox"),
  sandboxMin: text("sandbox-min") as LeastBackEnd,
  directory: text("cd"),
  moreDirectories: list("add-dir"),
  profile: text("profile"),
  overrides: list("config"),
  limits: list("limit"),
  strictConfig: has("strict-config"),
  ignoreUserConfig: has("ignore-user-config"),
  trustProject: has("trust-project"),
});

function hookHash(text: string): string {
  if (/^sha256:[0-9a-f]{64}$/.test(text)) return text;
  throw new Problem("usage", `--trust-hooks ${text}: write a hash as agentcli hooks list shows it, sha256:….`);
}

export const runOptions = (invocation: Invocation): RunOptions => ({
  ...configOptions(invocation),
  outputFile: invocation.text("output-last-message"),
  outputSchemaFile: invocation.text("output-schema"),
  skipGitCheck: invocation.has("skip-git-repo-check") || invocation.has("dangerously-bypass-approvals-and-sandbox"),
  ephemeral: invocation.has("ephemeral"),
  budget: invocation.list("budget"),
  onLimit: invocation.text("on-limit") as RunOptions["onLimit"],
  images: invocation.list("image"),
  tags: parseTags(invocation.list("tag")),
  local: (invocation.text("local-provider") as LocalProvider | undefined) ?? (invocation.has("oss") ? "any" : null),
  ignoreRules: invocation.has("ignore-rules"),
  trustHooks: invocation.list("trust-hooks").map(hookHash),
  bypassHookTrust: invocation.has("dangerously-bypass-hook-trust"),
});
