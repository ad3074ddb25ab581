// What exec, resume and their like are told on the command line.
import type { Invocation } from "./args.ts";
import type { LeastBackEnd } from "./sandbox-choice.ts";

export interface RunOptions {
  model?: string;
  sandbox?: string;
  sandboxMin?: LeastBackEnd;
  directory?: string;
  overrides: string[];
  outputFile?: string;
  skipGitCheck: boolean;
  ephemeral: boolean;
  budget: string[];
}

export const runOptions = ({ text, has, list }: Invocation): RunOptions => ({
  model: text("model"),
  sandbox: text("sandbox"),
  sandboxMin: text("sandbox-min") as LeastBackEnd,
  directory: text("cd"),
  overrides: list("config"),
  outputFile: text("output-last-message"),
  skipGitCheck: has("skip-git-repo-check"),
  ephemeral: has("ephemeral"),
  budget: list("budget"),
});
