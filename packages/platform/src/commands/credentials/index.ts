// Commands about credentials of teams for git hosts.
import type { Command } from "../command.ts";
import { settingFlags } from "../flags.ts";

export const credentialsCommands: Command[] = [
  {
    path: ["credentials", "set"],
    takes: "HOST --kind KIND",
    maxPositionals: 1,
    summary: "Set what the agents of a team use at a git host; reads the value from standard input",
    flags: [...settingFlags, "kind", "login", "file", "fingerprint", "team"],
    load: () => import("./set.ts"),
    notes: `HOST is HOST or HOST:PORT as in the addresses of repositories. Without TLS it must begin with http://.
The value is encrypted, used for this host and this team only, and never shown again.

  token        access token, for https
  basic        password of the user --login, for https
  ssh-key      private key without a passphrase
  known-hosts  host keys, as ssh-keyscan prints them

Examples:
  platform credentials set git.example.com --kind token < token.txt
  platform credentials set git.example.com --kind ssh-key --file deploy_key
  ssh-keyscan git.example.com | platform credentials set git.example.com --kind known-hosts --fingerprint SHA256:…`,
  },
  {
    path: ["credentials", "list"],
    takes: "",
    maxPositionals: 0,
    summary: "List the credentials of a team, without their values",
    flags: [...settingFlags, "team", "json"],
    load: () => import("./list.ts"),
  },
  {
    path: ["credentials", "remove"],
    takes: "HOST --kind KIND",
    maxPositionals: 1,
    summary: "Remove a credential of a team",
    flags: [...settingFlags, "kind", "team"],
    load: () => import("./remove.ts"),
  },
];
