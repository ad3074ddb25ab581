// Commands of the terminal interface.

import { preloadChunk } from "@agentcli/command-line/compiled";
import type { Command } from "../../command.ts";
import type { FlagName } from "../../flags.ts";
import { configFlags } from "../../run-flags.ts";

/** What shapes a thread, and where its server is. */
const terminalFlags: FlagName[] = [
  ...configFlags,
  "on-limit",
  "skip-git-repo-check",
  "ephemeral",
  "budget",
  "image",
  "search",
  "oss",
  "local-provider",
  "ignore-rules",
  "trust-hooks",
  "dangerously-bypass-hook-trust",
  "remote",
  "remote-auth-token-env",
  "remote-auth-token-file",
];

export const terminalCommands: Command[] = [
  {
    path: ["resume"],
    takes: "[ID | NAME | --last] [--all] [PROMPT]",
    maxPositionals: 2,
    summary: "Continue an earlier session on this terminal",
    flags: ["last", "all", ...terminalFlags],
    load: () => preloaded(() => import("./resume.ts")),
  },
  {
    path: ["fork"],
    takes: "[ID | NAME | --last] [--all] [PROMPT]",
    maxPositionals: 2,
    summary: "Continue a copy of an earlier session on this terminal",
    flags: ["last", "all", ...terminalFlags],
    load: () => preloaded(() => import("./fork.ts")),
  },
  {
    path: ["agents"],
    takes: "[--remote ADDRESS]",
    maxPositionals: 0,
    summary: "List the threads of a running app server",
    flags: ["remote", "remote-auth-token-env", "remote-auth-token-file"],
    load: () => import("./agents.ts"),
  },
  {
    path: ["init"],
    takes: "",
    maxPositionals: 0,
    summary: "Write an AGENTS.md from what this project has",
    flags: ["cd", "force"],
    load: () => import("./init.ts"),
  },
  {
    path: ["init", "rpi"],
    takes: "[--dialect platform]",
    maxPositionals: 0,
    summary: "Write the skills, agents, hooks and driver of research, plan, implement",
    flags: ["cd", "dialect", "force"],
    load: () => import("./init-rpi.ts"),
  },
];

export const interactive: Command = {
  path: [],
  takes: "[PROMPT]",
  maxPositionals: 1,
  summary: "Work with the agent on this terminal",
  flags: terminalFlags,
  load: () => preloaded(() => import("./open.ts")),
};

/** The first paint is near: its code is loaded in compiled form. */
function preloaded<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  preloadChunk("tui");
  return load();
}

/** `agentcli [PROMPT]`, where a user is in front of a terminal that can move its cursor. */
export const terminalCommand = ({ TERM }: NodeJS.ProcessEnv): Command | null =>
  process.stdin.isTTY && process.stdout.isTTY && TERM && TERM !== "dumb" ? interactive : null;
