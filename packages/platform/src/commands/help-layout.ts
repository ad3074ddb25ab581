// How help shows the commands and flags of the program platform.
import type { HelpLayout } from "@agentcli/command-line/help";

export const helpLayout: HelpLayout = {
  summary: "runs coding agents as a service",
  commandGroups: [
    { title: "Server", names: ["serve", "doctor", "models", "machines", "migrate"] },
    { title: "Access", names: ["keys", "users", "invitations", "teams", "login-link"] },
    { title: "Repositories", names: ["repos"] },
    { title: "Machines", names: ["env", "image"] },
    { title: "Data", names: ["backup", "restore", "rotate-kek", "audit", "signing-key"] },
  ],
  flagGroups: [],
  flags: ["data", "config", "help", "version"],
  runs: [],
  exitCodes: "0 success, 1 failure, 2 wrong usage or configuration.",
  footer:
    "Every setting can also come from the environment or config.toml; platform doctor shows the effective values.",
};
