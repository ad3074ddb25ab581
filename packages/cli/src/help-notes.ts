// What help says below the flags of each command. Loaded only when help is printed.
import { workerNotes } from "@agentcli/worker/command-notes";

const keys = "The platform is PLATFORM_BACKEND_URL, and PLATFORM_API_KEY its key. See docs/cloud.md.";

export const helpNotes: Record<string, string> = {
  completion: `Examples:
  source <(agentcli completion bash)
  agentcli completion zsh > "\${fpath[1]}/_agentcli"
  agentcli completion fish > ~/.config/fish/completions/agentcli.fish`,
  doctor: "Exit code 0 when agentcli exec would start with the same flags, 1 when it would not.",
  acp: `An editor starts it and speaks to it over standard streams. See docs/editors.md.`,
  "app-server": `One JSON object a line: {"id", "method", "params"}. See docs/app-server.md.

Examples:
  agentcli app-server
  agentcli app-server --listen ws://127.0.0.1:4500
  agentcli app-server --listen unix://`,
  "cache clear": "DIR is the workspace whose cache is removed; without it, all are.",
  "cloud exec": `${keys}

Examples:
  agentcli cloud exec "fix the failing test"
  agentcli apply "$(agentcli cloud exec --follow --branch main 'fix the failing test')"`,
  "cloud logs": `Of the newest run; --all shows all of them.\n${keys}`,
  apply: `If the changes conflict with the tree, none of them is applied and the exit code is 1.\n${keys}`,
  trust: `Without DIR, the project of this directory. Written to config.toml in the agent home:
  [projects."/path/of/the/project"]
  trust_level = "trusted"`,
  "config show": "Values that look like secrets are masked.",
  "env init": `Reads lock files, CI workflows, a dev container and a Dockerfile, writes the file, and says what each part follows from.
Nothing is run. With --json the proposal is printed and nothing is written.`,
  "exec resume": `With --last the one argument is the prompt. Without a prompt, an interrupted turn continues.
A resumed thread keeps its directory, model and sandbox; flags change them.

Examples:
  agentcli exec resume --last "now add a test for it"
  agentcli exec resume --last`,
  review: `Instructions alone are a review of whatever they name. The sandbox is read-only in every case.
The findings are printed as text; -o FILE.json keeps them as JSON.

Examples:
  agentcli review --uncommitted
  agentcli review --base main "look at error handling above all"
  agentcli review --commit HEAD -o findings.json`,
  exec: `The prompt is the argument, or standard input with -. What is piped in beside an argument is context for it.
Progress is on standard error, the final message alone on standard output.

Examples:
  agentcli exec -s workspace-write "fix the failing test"
  git diff | agentcli exec "write a commit message for this diff"
  agentcli exec --json -o summary.txt "list the public functions"`,
  "hooks trust": `A hook that is changed afterwards, or whose files are, has to be trusted again. Hooks run from a private copy
of the files that they run. A command whose files cannot be determined (npm run, make, $VARIABLE, …) is refused:
an agent could change what it runs. With --unpinned it is trusted all the same, and every run reports it.
Written to config.toml in the agent home, under [hooks.state].`,
  import: `Reads ~/.codex (or CODEX_HOME) and ~/.claude, writes config.toml, AGENTS.md and rules/imported.rules in the agent
home, and lists what was left out and why. What is set already stays as it is. Credentials, trust, hooks and
danger-full-access are not taken over. Skills, commands and agents of both are read where they are.`,
  login: `Examples:
  agentcli login                                        asks for the key without showing it
  printenv MY_KEY | agentcli login --with-api-key`,
  "mcp add": `Examples:
  agentcli mcp add files --env LOG=1 -- npx -y @modelcontextprotocol/server-filesystem .
  agentcli mcp add tracker --url https://mcp.example.com/mcp --bearer-token-env-var TRACKER_TOKEN`,
  "models try": `Two requests of a few tokens, which the provider charges for. Exit code 0 when both work.

Examples:
  agentcli models try gpt-5-mini
  agentcli models try --provider ollama qwen3-coder:30b`,
  models: `Asks the provider of the configuration, those of model_providers, and those whose key is in the environment.
Context windows are those that the provider states, otherwise the ones that a run would assume.`,
  replay: `Recorded with --record. Where the instructions, the tools or the model are not those of the recording,
the difference is named and the run is live from there: it asks the model, and works in the directory.

Examples:
  agentcli exec --record run.jsonl "fix the failing test"
  agentcli replay run.jsonl --json
  agentcli replay run.jsonl --model another-model`,
  "responses-proxy": `Reads the key from standard input and serves POST /v1/responses and GET /v1/models on 127.0.0.1.
See docs/responses-proxy.md.

Example:
  printenv MY_KEY | env -u MY_KEY agentcli responses-proxy --token-file token --server-info server.json`,
  "execpolicy check": `The words after -- are the command. Nothing is run.

Example:
  agentcli execpolicy check --rules .agentcli/rules/default.rules --pretty -- git push origin main`,
  "sandbox selftest": `Each line is held, admitted (a known limit of the back end) or ESCAPED.
The exit code is 0 only if nothing escaped.`,
  "sandbox run": `Standard input is passed in, output and exit code are passed on.

Example:
  agentcli sandbox run --sandbox workspace-write -- npm test`,
  sanitize: `Removes invisible characters, HTML comments and hidden elements, titles and descriptions that are not shown.

Example:
  gh issue view 7 --json body --jq .body | agentcli sanitize --report`,
  cost: `Prices are those of the time of the request; where one was not known, the sum says so.

Examples:
  agentcli cost --since 7d --by tag
  agentcli cost --cache --since 1d`,
  "skills check": `PATH is a SKILL.md, the folder of a skill, or a folder with skills below it; without it, all skills of a run here.
Each problem is a line FILE:LINE: severity: message. Exit code 1 when a skill breaks a rule.`,
  test: `Runs the cases in .agentcli/tests/*.yaml. A case has a prompt, the replies of the model, and what must be true
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
  eval: `The cases are those of agentcli test; the replies in them are not used. Each run has a fresh copy of the project.
--budget is for all runs together. The exit code is 1 if a case passes less often than --min-pass, 5 if the budget is
spent before all runs were made.

Examples:
  agentcli eval .agentcli/tests/project.yaml --runs 5 --model gpt-5.4,gpt-5.4-mini --budget usd=2
  agentcli eval .agentcli/tests --min-pass 80 --json`,
  "init rpi": `The hooks that it writes are trusted as they are.
Files that exist and say something else are kept, unless --force is given.

Example:
  agentcli init rpi && ./rpi "fix the failing test"`,
  "cloud list": keys,
  "cloud status": keys,
  "cloud diff": keys,
  ...workerNotes,
};
