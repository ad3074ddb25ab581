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
  cd: { short: "C", value: "DIR", help: "Work in this directory" },
  config: { short: "c", value: "KEY=VALUE", repeatable: true, help: "Override a configuration key (TOML value)" },
  json: { aliases: ["experimental-json"], help: "Print JSON on standard output; a run prints an event a line" },
  "output-last-message": { short: "o", value: "FILE", help: "Also write the final message to this file" },
  "skip-git-repo-check": { help: "Allow running outside a git repository" },
  ephemeral: { help: "Keep no session file" },
  budget: {
    value: "NAME=N,…",
    repeatable: true,
    help: "What the turn may spend: usd=2, tokens=500k, turns=40, tools=200, wall=20m",
  },
  color: { value: "WHEN", choices: ["always", "never", "auto"], help: "Colours in the progress" },
  last: { help: "Take the newest session of this directory" },
  all: { help: "With --last: of any directory" },
  env: { value: "NAME=VALUE", repeatable: true, help: "Variable for the server's process" },
  url: { value: "URL", help: "Address of a server that speaks streamable HTTP" },
  "bearer-token-env-var": { value: "NAME", help: "Environment variable that holds the server's token" },
  "oauth-client-id": { value: "ID", help: "Identifier of a client registered by hand" },
  "oauth-resource": { value: "URL", help: "Resource the token is asked for" },
  scopes: { value: "A,B", help: "What to ask for, in place of what the server proposes" },
  help: { short: "h", help: "Show help" },
  version: { short: "V", help: "Show the version" },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof table;
export const flags: Record<FlagName, Flag> = table;

/** What every run takes, in the order the help shows it. */
export const runFlags: FlagName[] = [
  "model",
  "sandbox",
  "cd",
  "config",
  "json",
  "output-last-message",
  "skip-git-repo-check",
  "ephemeral",
  "budget",
  "color",
];
