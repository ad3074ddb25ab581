// Commands that run the agent.
import type { Command } from "../../command.ts";
import { runFlags } from "../../run-flags.ts";

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
  },
  {
    path: ["exec"],
    aliases: [["e"]],
    takes: "[PROMPT | -]",
    maxPositionals: 1,
    summary: "Run one prompt in a sandbox and print the final message",
    flags: [...runFlags, "worktree"],
    load: () => import("./exec.ts"),
  },
];
