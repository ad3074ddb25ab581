// Adds permanent approvals to the user's rules.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { makePrivateDirectory } from "@agentcli/host";

/** What went wrong, or null. The command at hand runs either way. */
export function allowPrefix(agentHome: string, prefix: string[]): string | null {
  const directory = join(agentHome, "rules");
  const path = join(directory, "default.rules");
  try {
    makePrivateDirectory(directory);
    appendFileSync(path, `prefix_rule(pattern=${JSON.stringify(prefix)}, decision="allow")\n`, { mode: 0o600 });
    return null;
  } catch (error) {
    return `The rule could not be added to ${path}: ${(error as Error).message}`;
  }
}
