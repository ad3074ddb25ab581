// Every command in one table: what it is called, what it takes, and the file that carries it out.
import { administrationCommands } from "./administration-commands.ts";
import type { Invocation } from "./args.ts";
import { type FlagName, settingFlags } from "./flags.ts";
import type { Program } from "./program.ts";

export interface Command {
  /** The words that name it. */
  path: string[];
  /** What follows the words, for the help. */
  takes: string;
  mostPositionals: number;
  summary: string;
  flags: FlagName[];
  /** Loaded only when called. Answers with an exit code. */
  load(): Promise<{ run(invocation: Invocation, program: Program): Promise<number> }>;
  /** Lines shown under the flags. */
  notes?: string;
}

export const commands: Command[] = [
  {
    path: ["serve"],
    takes: "",
    mostPositionals: 0,
    summary: "Serve the platform; prints its address when ready",
    flags: [...settingFlags, "listen", "role", "tls-cert", "tls-key"],
    load: () => import("./commands/serve.ts"),
    notes: `PostgreSQL runs embedded in the data directory unless DATABASE_URL names a server.
Several servers may share one database and one data directory.
SIGTERM ends it in good order: runs are given back and go on elsewhere, or with the next start.`,
  },
  {
    path: ["migrate"],
    takes: "",
    mostPositionals: 0,
    summary: "Bring the database to this version; serve does so too",
    flags: settingFlags,
    load: () => import("./commands/migrate.ts"),
  },
  {
    path: ["keys", "create"],
    takes: "--name NAME [--service-account]",
    mostPositionals: 0,
    summary: "Make an API key and print it",
    flags: [...settingFlags, "name", "team", "user", "service-account", "scopes", "expires"],
    load: () => import("./commands/keys-create.ts"),
    notes: `The key is printed once and kept nowhere. The first one makes the team "default" and its administrator.

Examples:
  platform keys create --name laptop
  platform keys create --name ci --service-account --scopes agents:read,agents:write --expires 90d`,
  },
  {
    path: ["keys", "list"],
    takes: "",
    mostPositionals: 0,
    summary: "List the API keys",
    flags: [...settingFlags, "json"],
    load: () => import("./commands/keys-list.ts"),
  },
  {
    path: ["keys", "revoke"],
    takes: "ID",
    mostPositionals: 1,
    summary: "End an API key; seen by every server within a second",
    flags: settingFlags,
    load: () => import("./commands/keys-revoke.ts"),
  },
  {
    path: ["keys", "rotate"],
    takes: "ID [--overlap TIME]",
    mostPositionals: 1,
    summary: "Make the successor of an API key and print it",
    flags: [...settingFlags, "overlap"],
    load: () => import("./commands/keys-rotate.ts"),
    notes: "It has the name, owner, scopes and lifetime of the former key, which is good for the overlap.",
  },
  {
    path: ["repos", "create"],
    takes: "NAME [--from PATH]",
    mostPositionals: 1,
    summary: "Make a repository in the embedded git host and print its clone URL",
    flags: [...settingFlags, "from", "if-missing", "team"],
    load: () => import("./commands/repos-create.ts"),
    notes: "PATH is a git repository, or a plain directory whose files become the first commit.",
  },
  ...administrationCommands,
  {
    path: ["login-link"],
    takes: "[EMAIL]",
    mostPositionals: 1,
    summary: "Print a link that logs a browser in, as the first administrator unless a user is named",
    flags: settingFlags,
    load: () => import("./commands/login-link.ts"),
    notes: "It works once, within half an hour. A server must be running.",
  },
  {
    path: ["signing-key"],
    takes: "",
    mostPositionals: 0,
    summary: "Print the public key that commits of agents are signed with",
    flags: settingFlags,
    load: () => import("./commands/signing-key.ts"),
    notes: "The key is made where there is none. A server shows it at /.well-known/platform-signing-key.",
  },
  {
    path: ["doctor"],
    takes: "",
    mostPositionals: 0,
    summary: "Show the settings with their origins, and say what would fail",
    flags: [...settingFlags, "listen", "role", "tls-cert", "tls-key", "json"],
    load: () => import("./commands/doctor.ts"),
    notes: "Exit code 0 when platform serve would start with the same flags, 1 when it would not.",
  },
];
