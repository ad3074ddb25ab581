// How help shows the commands and flags of agentcli. Loaded only when help is printed.
import type { HelpLayout } from "@agentcli/command-line/help";
import { helpNotes } from "./help-notes.ts";

export const helpLayout: HelpLayout = {
  summary: "a coding agent that works unattended",
  commandGroups: [
    { title: "Run the agent", names: ["exec", "review", "resume", "fork", "agents", "init"] },
    { title: "Sessions", names: ["sessions", "replay", "cost"] },
    {
      title: "Accounts and configuration",
      names: ["login", "logout", "models", "config", "import", "trust", "doctor"],
    },
    { title: "What runs bring along", names: ["skills", "hooks", "mcp", "mcp-server", "test", "eval"] },
    { title: "Sandbox and rules", names: ["sandbox", "cache", "execpolicy", "sanitize"] },
    { title: "Agents on the platform", names: ["cloud", "env", "apply", "worker"] },
    { title: "For other programs", names: ["acp", "app-server", "responses-proxy", "completion", "exit-codes"] },
  ],
  flagGroups: [
    { title: "Which", names: ["last", "all", "uncommitted", "base", "commit", "title", "tools", "until", "filter"] },
    { title: "Model", names: ["model", "provider", "oss", "local-provider", "search"] },
    { title: "Input", names: ["image", "sanitize", "tag"] },
    { title: "Where it works", names: ["cd", "dialect", "worktree", "skip-git-repo-check"] },
    {
      title: "What it may do",
      names: [
        "sandbox",
        "add-dir",
        "ask-for-approval",
        "sandbox-min",
        "full-auto",
        "dangerously-bypass-approvals-and-sandbox",
      ],
    },
    { title: "Limits", names: ["budget", "limit", "on-limit"] },
    {
      title: "Output",
      names: ["json", "output-last-message", "output-schema", "format", "pretty", "color", "ephemeral", "record"],
    },
    {
      title: "Configuration",
      names: ["config", "profile", "strict-config", "ignore-user-config", "trust-project", "origin"],
    },
    {
      title: "Rules and hooks",
      names: ["rules", "ignore-rules", "trust-hooks", "dangerously-bypass-hook-trust", "effective", "unpinned"],
    },
  ],
  flags: ["help", "version"],
  runs: ["exec", "exec resume", "exec fork", "review"],
  notes: helpNotes,
  exitCodes:
    "0 success, 1 failure, 2 wrong usage or configuration, 3 credentials, 4 not reachable.\nAll of them: agentcli exit-codes.",
  footer: `On a terminal, agentcli [PROMPT] opens the interactive interface; a single word must not resemble a command.

Try it without a key or a network:
  agentcli exec --model practice --sandbox workspace-write "create hello.txt containing Hello"`,
};
