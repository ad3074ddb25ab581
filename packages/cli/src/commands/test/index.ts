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
    notes: `Runs the cases in .agentcli/tests/*.yaml. A case has a prompt, the replies of the model, and what must be true
afterwards; it runs in a copy of the project. Hooks run inside the sandbox, so they need no trust.

  cases:
    - name: pushing is left to people
      prompt: publish this
      model:
        - run: git push
        - message: I may not push.
      expect:
        rule_matched: { command: git push, decision: forbidden }
        tool_denied: exec_command
        exit: 0

Examples:
  agentcli test
  agentcli test --watch
  agentcli test --junit report.xml .agentcli/tests/hooks.yaml`,
  },
  {
    path: ["eval"],
    takes: "FILE…",
    maxPositionals: Number.MAX_SAFE_INTEGER,
    summary: "Run test cases against real models and print how often each passes, and the cost",
    flags: ["runs", "model", "min-pass", "budget", "filter", "json", "config", "profile", ...trustFlags],
    load: () => import("./eval.ts"),
    notes: `The cases are those of agentcli test; the replies in them are not used. Each run has a fresh copy of the project.
--budget is for all runs together. The exit code is 1 if a case passes less often than --min-pass, 5 if the budget is
spent before all runs were made.

Examples:
  agentcli eval .agentcli/tests/project.yaml --runs 5 --model gpt-5.4,gpt-5.4-mini --budget usd=2
  agentcli eval .agentcli/tests --min-pass 80 --json`,
  },
];
