// Commands about API keys.
import type { Command } from "../command.ts";
import { settingFlags } from "../flags.ts";

export const keysCommands: Command[] = [
  {
    path: ["keys", "create"],
    takes: "--name NAME [--service-account]",
    maxPositionals: 0,
    summary: "Create an API key and print it",
    flags: [...settingFlags, "name", "team", "user", "service-account", "scopes", "expires"],
    load: () => import("./create.ts"),
    notes: `The key is printed once and not stored. The first one creates the team "default" and its administrator.

Examples:
  platform keys create --name laptop
  platform keys create --name ci --service-account --scopes agents:read,agents:write --expires 90d`,
  },
  {
    path: ["keys", "list"],
    takes: "",
    maxPositionals: 0,
    summary: "List the API keys",
    flags: [...settingFlags, "json"],
    load: () => import("./list.ts"),
  },
  {
    path: ["keys", "revoke"],
    takes: "ID",
    maxPositionals: 1,
    summary: "Revoke an API key; takes effect on every server within a second",
    flags: settingFlags,
    load: () => import("./revoke.ts"),
  },
  {
    path: ["keys", "rotate"],
    takes: "ID [--overlap TIME]",
    maxPositionals: 1,
    summary: "Replace an API key and print the new one",
    flags: [...settingFlags, "overlap"],
    load: () => import("./rotate.ts"),
    notes: "The new key has the name, owner, scopes and lifetime of the old one, which stays valid for the overlap.",
  },
];
