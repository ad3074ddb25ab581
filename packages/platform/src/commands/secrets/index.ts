// Commands about secrets of teams, users and environments.
import type { Command } from "../command.ts";
import { type FlagName, settingFlags } from "../flags.ts";

const owner: FlagName[] = ["team", "user", "environment"];
const kind: FlagName[] = ["phase", "visible", "repos", "hosts", "uses"];

export const secretsCommands: Command[] = [
  {
    path: ["secrets", "set"],
    takes: "NAME",
    maxPositionals: 1,
    summary: "Set a secret that agents get as an environment variable; reads the value from standard input",
    flags: [...settingFlags, ...owner, ...kind, "file", "id", "add"],
    load: () => import("./set.ts"),
    notes: `The secret is the team's, or that of --user, or only for the agents of --environment.
The value is encrypted and never shown again. Agents that have started keep what they started with.

  --phase run     commands of agents get it (default)
  --phase build   only builds of environments get it
  --phase both    both get it

Examples:
  platform secrets set NPM_TOKEN < token.txt
  platform secrets set DEPLOY_KEY --file deploy_key --environment shop
  platform secrets set API_URL --visible --repos github.com/acme/api < url.txt
  platform secrets set GH_TOKEN --hosts github.com,api.github.com < token.txt`,
  },
  {
    path: ["secrets", "list"],
    takes: "",
    maxPositionals: 0,
    summary: "List secrets, without their values",
    flags: [...settingFlags, ...owner, "json"],
    load: () => import("./list.ts"),
  },
  {
    path: ["secrets", "remove"],
    takes: "NAME",
    maxPositionals: 1,
    summary: "Remove a secret; agents that have started keep it",
    flags: [...settingFlags, ...owner, "id"],
    load: () => import("./remove.ts"),
  },
  {
    path: ["secrets", "import"],
    takes: "",
    maxPositionals: 0,
    summary: "Set every variable of a .env file as a secret; reads it from standard input",
    flags: [...settingFlags, ...owner, ...kind, "file"],
    load: () => import("./import.ts"),
    notes: `Lines are NAME=value, with or without quotes and export; nothing is expanded. Variables without a value are left out.
Nothing is set if a name or a value in the file is not allowed.

Example:
  platform secrets import --file .env --environment shop`,
  },
];
