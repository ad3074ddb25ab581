// Turns a policy into Landlock rules for the files on disk, or refuses a policy that cannot be enforced.
import { type Dirent, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";
import { contains, resolveExisting } from "../../paths.ts";
import { locateHidden } from "../hidden-paths.ts";
import { guardOwnDirectories } from "../own-directories.ts";
import { hiddenFromRoot } from "../paths.ts";
import type { SandboxPolicy } from "../policy.ts";
import type { Grant } from "./rights.ts";

export interface Rule {
  path: string;
  grant: Grant;
}

/** Not shared with the sandbox: temporary files of others, sockets and secrets of services, disks and terminals. */
const notShared = ["/tmp", "/run", "/dev"];
const harmlessDevices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/** Landlock can only allow, so each sibling of a hidden path needs a rule; a rule takes about 10 µs. */
const maxRules = 5000;

export interface PlanOptions {
  /** The only directory for temporary files: Landlock cannot make /tmp private. */
  temporary: string;
  euid: number;
}

export function planRules(policy: SandboxPolicy, { temporary, euid }: PlanOptions): Rule[] {
  const requested = [...policy.hidden, ...(euid === 0 ? hiddenFromRoot : [])];
  // Also where they may appear later: rules name what exists now, so what is created beside it is not readable.
  const located = locateHidden(requested).map(({ directory, name }) => join(directory, name));
  const hidden = [...new Set([...requested, ...located].flatMap(resolveExisting))];
  const roots = policy.mode === "workspace-write" ? [policy.root, ...policy.writableRoots].map(resolveRoot) : [];
  const linked = guardOwnDirectories(policy.ownDirectories, roots);
  for (const root of roots) refuseInside(root, hidden, "hide");
  for (const root of roots) refuseInside(root, linked, "protect");
  const cache = policy.mode === "workspace-write" && policy.cache !== null ? [policy.cache] : [];
  const systemPaths = readableParts("/", [...located, ...notShared]);
  const shown = [policy.root, ...policy.shown].flatMap(resolveExisting).flatMap((path) => readableParts(path, hidden));
  const rules = [
    ...[...systemPaths, ...shown].map((path): Rule => ({ path, grant: "read" })),
    ...[...roots, ...cache, temporary].map((path): Rule => ({ path, grant: "write" })),
    ...harmlessDevices.filter((path) => existsSync(path)).map((path): Rule => ({ path, grant: "device" })),
  ];
  if (rules.length > maxRules) throw tooManyRules(rules.length);
  return rules;
}

/** The paths that make up the directory without the excluded ones. */
function readableParts(path: string, excluded: string[]): string[] {
  if (excluded.includes(path)) return [];
  if (!excluded.some((other) => contains(path, other))) return [path];
  return entriesOf(path)
    .filter((entry) => !entry.isSymbolicLink())
    .flatMap((entry) => readableParts(join(path, entry.name), excluded));
}

/** Empty for a directory that this process may not list. */
function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

function resolveRoot(path: string): string {
  const [real] = resolveExisting(path);
  if (real !== undefined) return real;
  throw new SandboxUnavailable(
    `The writable directory ${path} does not exist.`,
    "Create it, or remove it from the writable directories.",
  );
}

function refuseInside(root: string, paths: string[], what: "hide" | "protect"): void {
  const found = paths.find((path) => contains(root, path));
  if (found === undefined) return;
  throw new SandboxUnavailable(
    `Landlock cannot ${what} ${found} inside the writable directory ${root}.`,
    "Work in another directory, run read-only, or fix bubblewrap: see agentcli sandbox probe.",
  );
}

const tooManyRules = (count: number) =>
  new SandboxUnavailable(
    `Landlock would need ${count} rules to protect the denied paths; the limit is ${maxRules}.`,
    "Move those files out of directories with very many entries, or fix bubblewrap: see agentcli sandbox probe.",
  );
