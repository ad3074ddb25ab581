// Commands about the sandbox and its rules.
import type { Command } from "../../command.ts";

export const sandboxCommands: Command[] = [
  {
    path: ["execpolicy", "check"],
    takes: "--rules FILE -- COMMAND …",
    maxPositionals: Infinity,
    summary: "Show what rules files decide about a command",
    flags: ["rules", "pretty"],
    load: () => import("./execpolicy-check.ts"),
    notes: `The words after -- are the command. Nothing is run.

Example:
  agentcli execpolicy check --rules .agentcli/rules/default.rules --pretty -- git push origin main`,
  },
  {
    path: ["sandbox", "selftest"],
    takes: "",
    maxPositionals: 0,
    summary: "Try every known way out of the sandbox",
    flags: ["json"],
    load: () => import("./selftest.ts"),
    notes: `Each line is held, admitted (a known limit of the back end) or ESCAPED.
The exit code is 0 only if nothing escaped.`,
  },
  {
    path: ["sandbox", "run"],
    takes: "-- COMMAND …",
    maxPositionals: Infinity,
    summary: "Run one command in the sandbox",
    flags: ["sandbox", "sandbox-min", "cd", "add-dir", "config"],
    load: () => import("./run.ts"),
    notes: `Standard input is passed in, output and exit code are passed on.

Example:
  agentcli sandbox run --sandbox workspace-write -- npm test`,
  },
  {
    path: ["sandbox", "probe"],
    takes: "",
    maxPositionals: 0,
    summary: "Show what can be enforced on this machine",
    flags: ["json"],
    load: () => import("./probe.ts"),
  },
];
