// Every flag in one table: the parser, the help and the checks are made from it.
export interface Flag {
  short?: string;
  /** Name of the value in the help; a flag without one is a switch. */
  value?: string;
  choices?: readonly string[];
  repeatable?: true;
  help: string;
}

export const execFlags = {
  model: { short: "m", value: "MODEL", help: "Model to ask (practice needs no key and no network)" },
  sandbox: {
    short: "s",
    value: "MODE",
    choices: ["read-only", "workspace-write", "danger-full-access"],
    help: "What commands may touch",
  },
  cd: { short: "C", value: "DIR", help: "Work in this directory" },
  config: { short: "c", value: "KEY=VALUE", repeatable: true, help: "Override a configuration key (TOML value)" },
  json: { help: "Print events as JSON lines on standard output" },
  "output-last-message": { short: "o", value: "FILE", help: "Also write the final message to this file" },
  "skip-git-repo-check": { help: "Allow running outside a git repository" },
  ephemeral: { help: "Keep no session file" },
  color: { value: "WHEN", choices: ["always", "never", "auto"], help: "Colours in the progress" },
} as const satisfies Record<string, Flag>;

export const resumeFlags = {
  last: { help: "Take the newest session of this directory" },
  all: { help: "With --last: of any directory" },
} as const satisfies Record<string, Flag>;

export const rootFlags = {
  help: { short: "h", help: "Show this help" },
  version: { short: "V", help: "Show the version" },
} as const satisfies Record<string, Flag>;

export const allFlags: Record<string, Flag> = { ...execFlags, ...resumeFlags, ...rootFlags };
