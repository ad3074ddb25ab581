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
    path: ["sandbox", "selftest"],
    takes: "",
    mostPositionals: 0,
    summary: "Try to break out of the sandbox of this machine, in every known way",
    flags: ["json"],
    load: () => import("./commands/sandbox-selftest.ts"),
    notes: `Each line says held, admitted (the back end says it cannot stop this) or ESCAPED.
The exit code is 0 only if nothing escaped.`,
  },
  {
    path: ["sandbox", "run"],
    takes: "-- COMMAND …",
    mostPositionals: Infinity,
    summary: "Run one command in the sandbox",
    flags: ["sandbox", "sandbox-min", "cd", "add-dir", "config"],
    load: () => import("./commands/sandbox-run.ts"),
    notes: `Standard input is passed in, output and exit code are passed on.

Example:
  agentcli sandbox run --sandbox workspace-write -- npm test`,
  },
  {
    path: ["sandbox", "probe"],
    takes: "",
    mostPositionals: 0,
    summary: "Say what can be enforced on this machine, and what cannot",
    flags: ["json"],
    load: () => import("./commands/sandbox-probe.ts"),
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
