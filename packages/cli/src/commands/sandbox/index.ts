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
  },
  {
    path: ["sandbox", "selftest"],
    takes: "",
    maxPositionals: 0,
    summary: "Try every known way out of the sandbox",
    flags: ["json"],
    load: () => import("./selftest.ts"),
  },
  {
    path: ["sandbox", "run"],
    takes: "-- COMMAND …",
    maxPositionals: Infinity,
    summary: "Run one command in the sandbox",
    flags: ["sandbox", "sandbox-min", "cd", "add-dir", "config"],
    load: () => import("./run.ts"),
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
