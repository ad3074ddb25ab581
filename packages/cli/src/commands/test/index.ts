// Commands that test what a project tells its agents.
import type { Command } from "../../command.ts";

const trustFlags = ["cd", "trust-project", "trust-hooks", "dangerously-bypass-hook-trust"] as const;

export const testCommands: Command[] = [
  {
    path: ["test"],
    takes: "[FILE…]",
    maxPositionals: Number.MAX_SAFE_INTEGER,
    summary: "Test the instructions, rules, hooks, skills and agents of this project, without a model",
    flags: ["filter", "watch", "junit", "tap", ...trustFlags],
    load: () => import("./test.ts"),
  },
  {
    path: ["eval"],
    takes: "FILE…",
    maxPositionals: Number.MAX_SAFE_INTEGER,
    summary: "Run test cases against real models and print how often each passes, and the cost",
    flags: ["runs", "model", "min-pass", "budget", "filter", "json", "config", "profile", ...trustFlags],
    load: () => import("./eval.ts"),
  },
];
