// Every command in one table: what it is called, what it takes, and the file that carries it out.

import type { Invocation } from "./args.ts";
import { type FlagName, runFlags } from "./flags.ts";
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
    path: ["skills", "list"],
    aliases: [["skills"]],
    takes: "[--json]",
    mostPositionals: 0,
    summary: "Show the skills a run here would have",
    flags: ["json"],
    load: () => import("./commands/skills-list.ts"),
  },
  {
    path: ["skills", "check"],
    takes: "[PATH]",
    mostPositionals: 1,
    summary: "Hold skills against the agent-skills rules",
    flags: ["json"],
    load: () => import("./commands/skills-check.ts"),
    notes: `PATH is a SKILL.md, the folder of a skill, or a folder with skills below it; without it, all skills of a run here.
Each problem is a line FILE:LINE: severity: message. Exit code 1 when a skill breaks a rule.`,
  },
  {
    path: ["sanitize"],
    takes: "[FILE | -] [--report]",
    mostPositionals: 1,
    summary: "Take hidden text out of what comes from outside",
    flags: ["report"],
    load: () => import("./commands/sanitize.ts"),
    notes: `Removes invisible characters, HTML comments and hidden elements, titles and descriptions nobody sees.

Example:
  gh issue view 7 --json body --jq .body | agentcli sanitize --report`,
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
