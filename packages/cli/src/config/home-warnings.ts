// Whether other users can change the agent home: its settings name programs that run outside the sandbox.
import { lstatSync, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { belongsToOther, onlyUserCanChange, othersCanReplace, othersCanWrite } from "@agentcli/workspace";

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
  if (othersCanReplace(home, stats)) return [writable(home)];
  if (belongsToOther(stats))
    return [
      `${home} belongs to another user, who could change your settings. Set AGENT_HOME to a directory of your own.`,
    ];
  if (!othersCanWrite(home, stats) && !onlyUserCanChange(realpathSync(home)))
    return [
      `Other users can replace ${home}, and so change your settings: they can write a directory above it. Set AGENT_HOME to a directory that only you can change.`,
    ];
  // With the sticky bit, other users can still add what is missing.
  const foreign = othersCanWrite(home, stats) ? readdirSync(home).map((name) => join(home, name)) : [];
  return [
    ...foreign
      .filter((path) => belongsToOther(lstatSync(path)))
      .map((path) => `${path} belongs to another user and may be read as your settings. Remove it: rm -r ${path}`),
    ...writableSettings(home, stats).map(writable),
  ];
}

const writable = (path: string): string =>
  `${path} can be written by other users, who could change your settings. Run: chmod go-w ${path}`;

/** Names of what is read as settings, in the home and in directories there. */
const settings = /^(?:config\.toml|.*\.config\.toml|models\.toml|hooks\.json|auth\.json|mcp\.json|AGENTS.*\.md)$/;
const directories = new Set(["rules", "skills", "agents"]);
const maxNamed = 5;
const maxDepth = 3;

/** Nothing is looked at in a home that other users cannot enter, which is the usual one: a run begins with this. */
function writableSettings(home: string, { mode }: Stats): string[] {
  if ((mode & 0o011) === 0) return [];
  const found = readdirSync(home).flatMap((name) => {
    const path = join(home, name);
    if (directories.has(name)) return writableBelow(path, maxDepth);
    return settings.test(name) && canBeWritten(path) ? [path] : [];
  });
  return found.slice(0, maxNamed);
}

function writableBelow(path: string, depth: number): string[] {
  if (canBeWritten(path)) return [path];
  const names = depth === 0 ? [] : namesIn(path);
  return names.flatMap((name) => writableBelow(join(path, name), depth - 1));
}

/** None if it is a file, or cannot be read: then no setting is in it either. */
function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** By what a link leads to; one that leads nowhere has none. */
function canBeWritten(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && (stats.isDirectory() ? othersCanReplace(path, stats) : othersCanWrite(path, stats));
}
