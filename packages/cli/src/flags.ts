// Every flag in one table: the parser, the help and the completion are made from it. A name means the same everywhere.
export interface Flag {
  short?: string;
  /** Other names that mean the same. */
  aliases?: readonly string[];
  /** Name of the value in the help; a flag without one is a switch. */
  value?: string;
  choices?: readonly string[];
  repeatable?: true;
  help: string;
}

const table = {
  model: { short: "m", value: "MODEL", help: "Model to ask (practice needs no key and no network)" },
  sandbox: {
    short: "s",
    value: "MODE",
    choices: ["read-only", "workspace-write", "danger-full-access"],
    help: "What commands may touch",
  },
  "ask-for-approval": {
    short: "a",
    value: "POLICY",
    choices: ["on-request", "never"],
    help: "Whether the model may ask for more; a run with nobody present never grants it",
  },
  "full-auto": { help: "Deprecated: --sandbox workspace-write" },
  "dangerously-bypass-approvals-and-sandbox": {
    aliases: ["yolo"],
    help: "No sandbox and no approvals; only where the whole machine may be lost",
  },
  profile: { short: "p", value: "NAME", help: "Add $AGENT_HOME/NAME.config.toml to the configuration" },
  "add-dir": { value: "DIR", repeatable: true, help: "Let workspace-write also write here" },
  limit: {
    value: "NAME=DURATION,…",
    repeatable: true,
    help: "Longest waits, as in [limits] of the configuration (for sessions list: how many to show)",
  },
  "on-limit": {
    value: "WHAT",
    choices: ["wait", "stop"],
    help: "What to do when the provider says to come back later",
  },
  "strict-config": { help: "Refuse unknown configuration keys" },
  "ignore-user-config": { help: "Leave out config.toml and profiles of the agent home" },
  "trust-project": { help: "Use the configuration of this project, in this run" },
  origin: { help: "Also show where each value comes from" },
  "sandbox-min": {
    value: "BACKEND",
    choices: ["bubblewrap", "landlock"],
    help: "The least that may enforce the sandbox; landlock cannot protect .git",
  },
  cd: { short: "C", value: "DIR", help: "Work in this directory" },
  config: { short: "c", value: "KEY=VALUE", repeatable: true, help: "Override a configuration key (TOML value)" },
  json: { aliases: ["experimental-json"], help: "Print JSON on standard output; a run prints an event a line" },
  "output-last-message": {
    short: "o",
    value: "FILE",
    help: "Also write the final message (or the export) to this file",
  },
  "output-schema": { value: "FILE", help: "JSON Schema the final message must satisfy" },
  "skip-git-repo-check": { help: "Allow running outside a git repository" },
  ephemeral: { help: "Keep no session file" },
  budget: {
    value: "NAME=N,…",
    repeatable: true,
    help: "What the turn may spend: usd=2, tokens=500k, turns=40, tools=200, wall=20m",
  },
  "ignore-rules": { help: "Leave out the rules of user and project" },
  "trust-hooks": {
    value: "SHA256",
    repeatable: true,
    help: "Run hooks with this definition hash, as agentcli hooks list shows it, in this run",
  },
  "dangerously-bypass-hook-trust": { help: "Run all hooks of user and project, also those nobody has looked at" },
  effective: { help: "Only hooks that would run" },
  rules: { short: "r", value: "FILE", repeatable: true, help: "Rules file to check against" },
  pretty: { help: "Indent the JSON" },
  color: { value: "WHEN", choices: ["always", "never", "auto"], help: "Colours in the progress" },
  image: { short: "i", value: "FILE", repeatable: true, help: "Show the model an image; several with commas" },
  tag: { value: "KEY=VALUE", repeatable: true, help: "Label the run" },
  worktree: { help: "Work in a fresh git worktree, kept only if something changed" },
  oss: { help: "Ask a model server on this machine" },
  "local-provider": { value: "NAME", choices: ["ollama", "lmstudio"], help: "With --oss: which server" },
  uncommitted: { help: "Review staged, unstaged and untracked changes" },
  base: { value: "BRANCH", help: "Review what this branch adds to BRANCH" },
  commit: { value: "SHA", help: "Review the changes of one commit" },
  title: { value: "TEXT", help: "With --commit: what the commit is about" },
  last: { help: "Take the newest session of this directory" },
  all: { help: "All of them (sessions: of any directory, not of this one alone)" },
  format: { value: "FORMAT", choices: ["jsonl", "markdown"], help: "Form of the export" },
  "older-than": { value: "AGE", help: "Only sessions not used for this long: 12h, 30d, 2w" },
  since: { value: "AGE", help: "Only what was asked within this time: 12h, 7d, 2w" },
  by: { value: "WHAT", choices: ["model", "tag", "day"], help: "How to group" },
  force: { help: "Take all that a beginning of an id means" },
  "with-api-key": { help: "Read the key from standard input" },
  "api-key": { value: "KEY", help: "Refused: a key on the command line is seen by others" },
  env: {
    value: "NAME=VALUE",
    repeatable: true,
    help: "Variable for the server's process (cloud: where the agent works: NAME, pool:NAME or machine:NAME)",
  },
  url: { value: "URL", help: "Address of a server that speaks streamable HTTP" },
  "bearer-token-env-var": { value: "NAME", help: "Environment variable that holds the server's token" },
  "oauth-client-id": { value: "ID", help: "Identifier of a client registered by hand" },
  "oauth-resource": { value: "URL", help: "Resource the token is asked for" },
  scopes: { value: "A,B", help: "What to ask for, in place of what the server proposes" },
  report: { help: "Say as JSON on standard error what was removed" },
  listen: { value: "ADDRESS", help: "stdio:// (standard streams), ws://IP:PORT, unix://[PATH] or off" },
  stdio: { help: "The same as --listen stdio://" },
  "ws-auth": {
    value: "HOW",
    choices: ["capability-token", "signed-bearer-token"],
    help: "What clients of ws:// must show in an Authorization header",
  },
  "ws-token-file": { value: "FILE", help: "With capability-token: the file that holds the token" },
  "ws-token-sha256": { value: "HEX", help: "With capability-token: the hash of the token" },
  "ws-shared-secret-file": {
    value: "FILE",
    help: "With signed-bearer-token: what tokens (JWT, HS256) are signed with",
  },
  "ws-issuer": { value: "NAME", help: "With signed-bearer-token: who must have made the token" },
  "ws-audience": { value: "NAME", help: "With signed-bearer-token: whom the token must be made for" },
  "ws-max-clock-skew-seconds": { value: "N", help: "With signed-bearer-token: how far clocks may differ (30)" },
  out: { value: "DIR", help: "Directory to write into" },
  repo: { value: "URL", help: "Repository to work on (the origin of this one)" },
  branch: { value: "REF", help: "Branch, tag or commit to start from (the repository's usual branch)" },
  pr: { help: "Let the platform open a draft pull request" },
  follow: { help: "Show what the agent does until it has ended" },
  cursor: { value: "CURSOR", help: "Where the page before ended" },
  help: { short: "h", help: "Show help" },
  version: { short: "V", help: "Show the version" },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof table;
export const flags: Record<FlagName, Flag> = table;

/** What shapes the configuration of a run. */
export const configFlags: FlagName[] = [
  "model",
  "sandbox",
  "ask-for-approval",
  "full-auto",
  "dangerously-bypass-approvals-and-sandbox",
  "sandbox-min",
  "cd",
  "add-dir",
  "config",
  "profile",
  "limit",
  "strict-config",
  "ignore-user-config",
  "trust-project",
];

/** What every run takes, in the order the help shows it. */
export const runFlags: FlagName[] = [
  ...configFlags,
  "on-limit",
  "json",
  "output-last-message",
  "output-schema",
  "skip-git-repo-check",
  "ephemeral",
  "budget",
  "image",
  "tag",
  "oss",
  "local-provider",
  "ignore-rules",
  "trust-hooks",
  "dangerously-bypass-hook-trust",
  "color",
];
