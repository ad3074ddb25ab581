// Whether other users can change the agent home: its settings name programs that run outside the sandbox.
import { lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { belongsToOther, othersCanReplace, othersCanWrite } from "@agentcli/workspace";

export function homeWarnings(home: string): string[] {
  try {
    return warningsOf(home);
  } catch {
    // Without a home there is nothing to change; what needs one says why it cannot be used.
    return [];
  }
}

function warningsOf(home: string): string[] {
  const stats = statSync(home);
  if (othersCanReplace(home, stats))
    return [`${home} can be written by other users, who could change your settings. Run: chmod go-w ${home}`];
  if (belongsToOther(stats))
    return [
      `${home} belongs to another user, who could change your settings. Set AGENT_HOME to a directory of your own.`,
    ];
  // With the sticky bit, other users can still add what is missing.
  const foreign = othersCanWrite(home, stats) ? readdirSync(home).map((name) => join(home, name)) : [];
  return foreign
    .filter((path) => belongsToOther(lstatSync(path)))
    .map((path) => `${path} belongs to another user and may be read as your settings. Remove it: rm -r ${path}`);
}
