// Every command in one table: what it is called, what it takes, and the file that carries it out.

import type { Invocation } from "./args.ts";
import { configFlags, type FlagName, runFlags } from "./flags.ts";
import type { Program } from "./program.ts";

export interface Command {
  /** The words that name it. */
  path: string[];
  aliases?: string[][];
  /** What follows the words, for the help: PROMPT, [ID] … */
  takes: string;
  mostPositionals: number;
  summary: string;
  flags: FlagName[];
  /** Loaded only when called. */
  load(): Promise<{ run(invocation: Invocation, program: Program): Promise<number> }>;
  /** Lines shown under the flags. */
  notes?: string;
}

export const commands: Command[] = [
  {
    path: ["exit-codes"],
    takes: "",
    mostPositionals: 0,
    summary: "Print what each exit code means",
    flags: ["json"],
    load: () => import("./commands/exit-codes.ts"),
  },
  {
    path: ["completion"],
    takes: "bash | zsh | fish",
    mostPositionals: 1,
    summary: "Print a completion script for a shell",
    flags: [],
    load: () => import("./commands/completion.ts"),
    notes: `Examples:
  source <(agentcli completion bash)
  agentcli completion zsh > "\${fpath[1]}/_agentcli"
  agentcli completion fish > ~/.config/fish/completions/agentcli.fish`,
  },
  {
    path: ["doctor"],
    takes: "",
    mostPositionals: 0,
    summary: "Say what is configured, what would fail, and how to mend it",
    flags: [...configFlags, "skip-git-repo-check", "json"],
    load: () => import("./commands/doctor.ts"),
    notes: "Exit code 0 when agentcli exec would start with the same flags, 1 when it would not.",
  },
  {
    path: ["trust"],
    takes: "[DIR]",
    mostPositionals: 1,
    summary: "Let a project's own .agentcli/config.toml count",
    flags: [],
    load: () => import("./commands/trust.ts"),
    notes: `Without DIR, the project around this directory. Written to config.toml in the agent home:
  [projects."/path/of/the/project"]
  trust_level = "trusted"`,
  },
  {
    path: ["config", "show"],
    takes: "",
    mostPositionals: 0,
    summary: "Print the effective configuration",
    flags: ["origin", "json", ...configFlags],
    load: () => import("./commands/config-show.ts"),
    notes: "Values that look like secrets are masked.",
  },
  {
    path: ["exec", "resume"],
    aliases: [["e", "resume"]],
    takes: "ID | --last [--all] [PROMPT | -]",
    mostPositionals: 2,
    summary: "Go on with an earlier session",
    flags: ["last", "all", ...runFlags],
    load: () => import("./commands/resume.ts"),
    notes: `With --last the one argument is the prompt. Without a prompt, a turn that was cut off goes on.
A resumed thread keeps its directory, model and sandbox; flags change them.

Examples:
  agentcli exec resume --last "now add a test for it"
  agentcli exec resume --last`,
  },
  {
    path: ["exec"],
    aliases: [["e"]],
    takes: "[PROMPT | -]",
    mostPositionals: 1,
    summary: "Carry out one prompt in a sandbox and print the final message",
    flags: runFlags,
    load: () => import("./commands/exec.ts"),
    notes: `The prompt is the argument, or standard input with -. What is piped in beside an argument is context for it.
Progress is on standard error, the final message alone on standard output.

Exit codes: 0 completed, 1 failed, 2 usage or configuration, 3 credentials, 4 provider unavailable,
6 a limit, 8 no sandbox, 11 no final message, 130 interrupted.

Examples:
  agentcli exec -s workspace-write "fix the failing test"
  git diff | agentcli exec "write a commit message for this diff"
  agentcli exec --json -o summary.txt "list the public functions"`,
  },
];
