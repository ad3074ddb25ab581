// Every command in one table: what it is called, what it takes, and the file that carries it out.

import { appServerCommands } from "./app-server-commands.ts";
import type { Invocation } from "./args.ts";
import { cloudCommands } from "./cloud-commands.ts";
import { configFlags, type FlagName, runFlags } from "./flags.ts";
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
    path: ["exit-codes"],
    takes: "",
    mostPositionals: 0,
    summary: "Print what each exit code means",
    flags: ["json"],
    load: () => import("./commands/exit-codes.ts"),
  },
  {
    path: ["completion"],
    takes: "bash | zsh | fish",
    mostPositionals: 1,
    summary: "Print a completion script for a shell",
    flags: [],
    load: () => import("./commands/completion.ts"),
    notes: `Examples:
  source <(agentcli completion bash)
  agentcli completion zsh > "\${fpath[1]}/_agentcli"
  agentcli completion fish > ~/.config/fish/completions/agentcli.fish`,
  },
  {
    path: ["doctor"],
    takes: "",
    mostPositionals: 0,
    summary: "Say what is configured, what would fail, and how to mend it",
    flags: [...configFlags, "skip-git-repo-check", "json"],
    load: () => import("./commands/doctor.ts"),
    notes: "Exit code 0 when agentcli exec would start with the same flags, 1 when it would not.",
  },
  ...appServerCommands,
  ...cloudCommands,
  {
    path: ["trust"],
    takes: "[DIR]",
    mostPositionals: 1,
    summary: "Let a project's own .agentcli/config.toml count",
    flags: [],
    load: () => import("./commands/trust.ts"),
    notes: `Without DIR, the project around this directory. Written to config.toml in the agent home:
  [projects."/path/of/the/project"]
  trust_level = "trusted"`,
  },
  {
    path: ["hooks", "list"],
    aliases: [["hooks"]],
    takes: "",
    mostPositionals: 0,
    summary: "List the hooks of this place and whether each would run",
    flags: ["effective", "json", "cd", "config", "profile", "ignore-user-config", "trust-project"],
    load: () => import("./commands/hooks-list.ts"),
  },
  {
    path: ["hooks", "trust"],
    takes: "[KEY… | --all]",
    mostPositionals: Number.MAX_SAFE_INTEGER,
    summary: "Let hooks run, as they are now",
    flags: ["all", "cd"],
    load: () => import("./commands/hooks-trust.ts"),
    notes: `A hook that is changed afterwards, or whose script is, has to be trusted again.
Written to config.toml in the agent home, under [hooks.state].`,
  },
  {
    path: ["hooks", "untrust"],
    takes: "KEY… | --all",
    mostPositionals: Number.MAX_SAFE_INTEGER,
    summary: "Take back the trust in hooks",
    flags: ["all"],
    load: () => import("./commands/hooks-untrust.ts"),
  },
  {
    path: ["config", "show"],
    takes: "",
    mostPositionals: 0,
    summary: "Print the effective configuration",
    flags: ["origin", "json", ...configFlags],
    load: () => import("./commands/config-show.ts"),
    notes: "Values that look like secrets are masked.",
  },
  {
    path: ["logout"],
    takes: "",
    mostPositionals: 0,
    summary: "Forget the saved login",
    flags: [],
    load: () => import("./commands/logout.ts"),
  },
  {
    path: ["login", "status"],
    takes: "",
    mostPositionals: 0,
    summary: "Say which credential a run would use (exit code 1: none)",
    flags: ["config"],
    load: () => import("./commands/login-status.ts"),
  },
  {
    path: ["login"],
    takes: "",
    mostPositionals: 0,
    summary: "Keep an API key for later runs",
    flags: ["with-api-key", "api-key"],
    load: () => import("./commands/login.ts"),
    notes: `Examples:
  agentcli login                                        asks for the key without showing it
  printenv MY_KEY | agentcli login --with-api-key`,
  },
  {
    path: ["sessions", "name"],
    takes: "ID NAME",
    mostPositionals: 2,
    summary: "Call a session by a name",
    flags: [],
    load: () => import("./commands/sessions-name.ts"),
  },
  {
    path: ["sessions", "delete"],
    takes: "ID… | --older-than AGE",
    mostPositionals: Number.MAX_SAFE_INTEGER,
    summary: "Remove sessions",
    flags: ["older-than", "force"],
    load: () => import("./commands/sessions-delete.ts"),
  },
  {
    path: ["sessions", "export"],
    takes: "ID",
    mostPositionals: 1,
    summary: "Write a session as JSON lines or Markdown",
    flags: ["format", "output-last-message"],
    load: () => import("./commands/sessions-export.ts"),
  },
  {
    path: ["sessions", "show"],
    takes: "ID",
    mostPositionals: 1,
    summary: "Show what was said and done in a session",
    flags: ["color"],
    load: () => import("./commands/sessions-show.ts"),
  },
  {
    path: ["sessions", "list"],
    aliases: [["sessions"]],
    takes: "",
    mostPositionals: 0,
    summary: "List the newest sessions of this directory",
    flags: ["all", "json", "limit"],
    load: () => import("./commands/sessions-list.ts"),
  },
  {
    path: ["cost"],
    takes: "",
    mostPositionals: 0,
    summary: "Add up what sessions have spent, by model, tag or day",
    flags: ["since", "by", "json"],
    load: () => import("./commands/cost.ts"),
    notes: `Prices are those of the time of the request; where one was not known, the sum says so.

Example:
  agentcli cost --since 7d --by tag`,
  },
  {
    path: ["exec", "fork"],
    aliases: [["e", "fork"]],
    takes: "ID [PROMPT | -]",
    mostPositionals: 2,
    summary: "Begin a new session with what another said and did",
    flags: runFlags,
    load: () => import("./commands/fork.ts"),
    notes: `Without a prompt the new session is only made, and its id printed.

Example:
  agentcli exec fork nightly "try it the other way"`,
  },
  {
    path: ["execpolicy", "check"],
    takes: "--rules FILE -- COMMAND …",
    mostPositionals: Infinity,
    summary: "Say what rules files decide about a command",
    flags: ["rules", "pretty"],
    load: () => import("./commands/execpolicy.ts"),
    notes: `The words after -- are the command. Nothing is run.

Example:
  agentcli execpolicy check --rules .agentcli/rules/default.rules --pretty -- git push origin main`,
  },
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
    path: ["skills", "list"],
    aliases: [["skills"]],
    takes: "[--json]",
    mostPositionals: 0,
    summary: "Show the skills a run here would have",
    flags: ["json"],
    load: () => import("./commands/skills-list.ts"),
  },
  {
    path: ["skills", "check"],
    takes: "[PATH]",
    mostPositionals: 1,
    summary: "Hold skills against the agent-skills rules",
    flags: ["json"],
    load: () => import("./commands/skills-check.ts"),
    notes: `PATH is a SKILL.md, the folder of a skill, or a folder with skills below it; without it, all skills of a run here.
Each problem is a line FILE:LINE: severity: message. Exit code 1 when a skill breaks a rule.`,
  },
  {
    path: ["sanitize"],
    takes: "[FILE | -] [--report]",
    mostPositionals: 1,
    summary: "Take hidden text out of what comes from outside",
    flags: ["report"],
    load: () => import("./commands/sanitize.ts"),
    notes: `Removes invisible characters, HTML comments and hidden elements, titles and descriptions nobody sees.

Example:
  gh issue view 7 --json body --jq .body | agentcli sanitize --report`,
  },
  {
    path: ["mcp", "list"],
    takes: "",
    mostPositionals: 0,
    summary: "List the configured MCP servers",
    flags: ["json", "config"],
    load: () => import("./commands/mcp-list.ts"),
  },
  {
    path: ["mcp", "get"],
    takes: "NAME",
    mostPositionals: 1,
    summary: "Show one MCP server",
    flags: ["json", "config"],
    load: () => import("./commands/mcp-get.ts"),
  },
  {
    path: ["mcp", "add"],
    takes: "NAME (-- COMMAND… | --url URL)",
    mostPositionals: Infinity,
    summary: "Add an MCP server to the user's configuration",
    flags: ["env", "url", "bearer-token-env-var", "oauth-client-id", "oauth-resource"],
    load: () => import("./commands/mcp-add.ts"),
    notes: `Examples:
  agentcli mcp add files --env LOG=1 -- npx -y @modelcontextprotocol/server-filesystem .
  agentcli mcp add tracker --url https://mcp.example.com/mcp --bearer-token-env-var TRACKER_TOKEN`,
  },
  {
    path: ["mcp", "remove"],
    takes: "NAME",
    mostPositionals: 1,
    summary: "Take an MCP server out of the user's configuration",
    flags: [],
    load: () => import("./commands/mcp-remove.ts"),
  },
  {
    path: ["mcp", "login"],
    takes: "NAME",
    mostPositionals: 1,
    summary: "Log in to an MCP server in a browser",
    flags: ["scopes", "config"],
    load: () => import("./commands/mcp-login.ts"),
  },
  {
    path: ["mcp", "logout"],
    takes: "NAME",
    mostPositionals: 1,
    summary: "Forget the login to an MCP server",
    flags: [],
    load: () => import("./commands/mcp-logout.ts"),
  },
  {
    path: ["mcp-server"],
    takes: "",
    mostPositionals: Infinity,
    summary: "Removed; agentcli app-server takes its place",
    flags: [],
    load: () => import("./commands/mcp-server.ts"),
  },
  {
    path: ["exec", "resume"],
    aliases: [["e", "resume"]],
    takes: "ID | NAME | --last [--all] [PROMPT | -]",
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
    path: ["review"],
    aliases: [
      ["exec", "review"],
      ["e", "review"],
    ],
    takes: "--uncommitted | --base BRANCH | --commit SHA [--title TEXT] [INSTRUCTIONS | -]",
    mostPositionals: 1,
    summary: "Review a change and report findings; nothing is edited",
    flags: ["uncommitted", "base", "commit", "title", ...runFlags],
    load: () => import("./commands/review.ts"),
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
    mostPositionals: 1,
    summary: "Carry out one prompt in a sandbox and print the final message",
    flags: [...runFlags, "worktree"],
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
