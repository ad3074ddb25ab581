// Commands that run the agent.
import type { Command } from "../../command.ts";
import { runFlags } from "../../flags.ts";

export const execCommands: Command[] = [
  {
    path: ["exec", "fork"],
    aliases: [["e", "fork"]],
    takes: "ID[@ITEM] [PROMPT | -]",
    maxPositionals: 2,
    summary: "Start a new session with the history of another",
    flags: runFlags,
    load: () => import("./fork.ts"),
    notes: `Without a prompt the new session is only created, and its id printed.
It begins with everything up to the last finished turn, or up to an item of \`exec --json\`.

Examples:
  agentcli exec fork nightly "try it the other way"
  agentcli exec fork nightly@item_12 "stop here and write the test first"`,
  },
  {
    path: ["exec", "resume"],
    aliases: [["e", "resume"]],
    takes: "ID | NAME | --last [--all] [PROMPT | -]",
    maxPositionals: 2,
    summary: "Continue an earlier session",
    flags: ["last", "all", ...runFlags],
    load: () => import("./resume.ts"),
    notes: `With --last the one argument is the prompt. Without a prompt, an interrupted turn continues.
A resumed thread keeps its directory, model and sandbox; flags change them.

Examples:
  agentcli exec resume --last "now add a test for it"
  agentcli exec resume --last`,
  },
  {
    path: ["review"],
    aliases: [
      ["exec", "review"],
      ["e", "review"],
    ],
    takes: "--uncommitted | --base BRANCH | --commit SHA [--title TEXT] [INSTRUCTIONS | -]",
    maxPositionals: 1,
    summary: "Review a change and report findings; nothing is edited",
    flags: ["uncommitted", "base", "commit", "title", ...runFlags],
    load: () => import("./review.ts"),
    notes: `Instructions alone are a review of whatever they name. The sandbox is read-only in every case.
The findings are printed as text; -o FILE.json keeps them as JSON.

Examples:
  agentcli review --uncommitted
  agentcli review --base main "look at error handling above all"
  agentcli review --commit HEAD -o findings.json`,
  },
  {
    path: ["exec"],
    aliases: [["e"]],
    takes: "[PROMPT | -]",
    maxPositionals: 1,
    summary: "Run one prompt in a sandbox and print the final message",
    flags: [...runFlags, "worktree"],
    load: () => import("./exec.ts"),
    notes: `The prompt is the argument, or standard input with -. What is piped in beside an argument is context for it.
Progress is on standard error, the final message alone on standard output.

Examples:
  agentcli exec -s workspace-write "fix the failing test"
  git diff | agentcli exec "write a commit message for this diff"
  agentcli exec --json -o summary.txt "list the public functions"`,
  },
];
