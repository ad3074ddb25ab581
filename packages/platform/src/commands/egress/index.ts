// Commands about what machines may reach.
import type { Command } from "../command.ts";
import { settingFlags } from "../flags.ts";

export const egressCommands: Command[] = [
  {
    path: ["egress", "why"],
    takes: "HOST",
    maxPositionals: 1,
    summary: "Say whether an agent may reach a host, by which rule, and what its last run met there",
    flags: [...settingFlags, "agent", "json"],
    load: () => import("./why.ts"),
    notes: `HOST is a name or an address, with :PORT if it is not 443. The exit code is 0 if it is allowed, 1 if not.

Example:
  platform egress why registry.npmjs.org --agent bc-…`,
  },
];
