// Commands about the server itself.
import type { Command } from "../command.ts";
import { settingFlags } from "../flags.ts";

export const serverCommands: Command[] = [
  {
    path: ["serve"],
    takes: "",
    maxPositionals: 0,
    summary: "Serve the platform; prints its address when ready",
    flags: [...settingFlags, "listen", "role", "tls-cert", "tls-key"],
    load: () => import("./serve.ts"),
    notes: `PostgreSQL runs embedded in the data directory unless DATABASE_URL names a server.
Several servers may share one database and one data directory.
SIGTERM shuts it down cleanly: its runs are released and resume on another server, or with the next start.`,
  },
  {
    path: ["migrate"],
    takes: "",
    maxPositionals: 0,
    summary: "Migrate the database to this version; serve does so too",
    flags: settingFlags,
    load: () => import("./migrate.ts"),
  },
  {
    path: ["signing-key"],
    takes: "",
    maxPositionals: 0,
    summary: "Print the public key that commits of agents are signed with",
    flags: settingFlags,
    load: () => import("./signing-key.ts"),
    notes: "The key is created if missing. A server publishes it at /.well-known/platform-signing-key.",
  },
  {
    path: ["doctor"],
    takes: "",
    maxPositionals: 0,
    summary: "Show the settings with their origins, and report what would fail",
    flags: [...settingFlags, "listen", "role", "tls-cert", "tls-key", "json"],
    load: () => import("./doctor.ts"),
    notes: "Exit code 0 when platform serve would start with the same flags, 1 when it would not.",
  },
];
