// What exec, resume and their like are told on the command line.
import type { LocalProvider, Tags } from "@agentcli/protocol";
import type { Invocation } from "./args.ts";
import { parseTags } from "./sessions/tags.ts";

export interface RunOptions {
  model?: string;
  sandbox?: string;
  directory?: string;
  overrides: string[];
  outputFile?: string;
  skipGitCheck: boolean;
  ephemeral: boolean;
  images: string[];
  tags: Tags;
  /** A model server on this machine: this one, or whichever answers. */
  local: LocalProvider | "any" | null;
  /** Chosen by a flag, over what is configured. */
  provider?: string;
}

export const runOptions = ({ text, has, list }: Invocation): RunOptions => ({
  model: text("model"),
  sandbox: text("sandbox"),
  directory: text("cd"),
  overrides: list("config"),
  outputFile: text("output-last-message"),
  skipGitCheck: has("skip-git-repo-check"),
  ephemeral: has("ephemeral"),
  images: list("image"),
  tags: parseTags(list("tag")),
  local: (text("local-provider") as LocalProvider | undefined) ?? (has("oss") ? "any" : null),
});
