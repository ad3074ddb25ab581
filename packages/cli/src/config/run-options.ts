// Options of exec, resume and review, from the command line.
import { CommandError } from "@agentcli/command-line";
import type { ConfigOptions, MinBackEnd, RunOptions } from "@agentcli/host";
import type { LocalProvider } from "@agentcli/protocol";
import type { Invocation } from "../command.ts";
import { parseTags } from "../sessions/tags.ts";

export const configOptions = ({ text, has, list }: Invocation): ConfigOptions => ({
  model: text("model"),
  sandbox: text("sandbox"),
  approval: text("ask-for-approval"),
  fullAuto: has("full-auto"),
  bypass: has("dangerously-bypass-approvals-and-sandbox"),
  sandboxMin: text("sandbox-min") as MinBackEnd,
  directory: text("cd"),
  moreDirectories: list("add-dir"),
  profile: text("profile"),
  overrides: list("config"),
  limits: list("limit"),
  strictConfig: has("strict-config"),
  ignoreUserConfig: has("ignore-user-config"),
  trustProject: has("trust-project"),
  search: has("search"),
});

function hookHash(text: string): string {
  if (/^sha256:[0-9a-f]{64}$/.test(text)) return text;
  throw new CommandError("usage", `--trust-hooks ${text}: write a hash as agentcli hooks list shows it, sha256:….`);
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
  sanitize: invocation.has("sanitize"),
  recordFile: invocation.text("record"),
  ignoreRules: invocation.has("ignore-rules"),
  trustHooks: invocation.list("trust-hooks").map(hookHash),
  bypassHookTrust: invocation.has("dangerously-bypass-hook-trust"),
});
