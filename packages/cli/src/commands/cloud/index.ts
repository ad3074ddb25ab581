// Commands for agents on the platform.
import type { Command } from "../../command.ts";
import type { FlagName } from "../../flags.ts";

const access: FlagName[] = ["config", "profile", "ignore-user-config"];
export const cloudCommands: Command[] = [
  {
    path: ["cloud", "exec"],
    aliases: [["cloud-tasks", "exec"]],
    takes: "[PROMPT | -]",
    maxPositionals: 1,
    summary: "Give a prompt to a new agent on the platform and print its id",
    flags: ["env", "repo", "branch", "pr", "model", "follow", "json", ...access],
    load: () => import("./exec.ts"),
  },
  {
    path: ["cloud", "list"],
    aliases: [["cloud-tasks", "list"]],
    takes: "",
    maxPositionals: 0,
    summary: "List the newest agents on the platform",
    flags: ["limit", "cursor", "json", ...access],
    load: () => import("./list.ts"),
  },
  {
    path: ["cloud", "status"],
    aliases: [["cloud-tasks", "status"]],
    takes: "AGENT",
    maxPositionals: 1,
    summary: "Show the status of an agent (exit code 1: not finished)",
    flags: ["json", ...access],
    load: () => import("./status.ts"),
  },
  {
    path: ["cloud", "diff"],
    aliases: [["cloud-tasks", "diff"]],
    takes: "AGENT",
    maxPositionals: 1,
    summary: "Print the changes of an agent",
    flags: ["json", ...access],
    load: () => import("./diff.ts"),
  },
  {
    path: ["cloud", "logs"],
    aliases: [["cloud-tasks", "logs"]],
    takes: "AGENT",
    maxPositionals: 1,
    summary: "Print the messages and actions of an agent; a running one is followed to its end",
    flags: ["all", "json", ...access],
    load: () => import("./logs.ts"),
  },
  {
    path: ["apply"],
    aliases: [["a"], ["cloud", "apply"], ["cloud-tasks", "apply"]],
    takes: "AGENT",
    maxPositionals: 1,
    summary: "Apply the changes of an agent to this working tree",
    flags: ["with-settings", ...access],
    load: () => import("./apply.ts"),
  },
];
