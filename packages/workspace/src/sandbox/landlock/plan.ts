// Looks at the disk and turns a policy into Landlock rules, or refuses one that could not be kept.
import { type Dirent, existsSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { contains, hiddenFromRoot } from "../plan.ts";
import type { SandboxPolicy } from "../policy.ts";
import { SandboxUnavailable } from "../sandbox-unavailable.ts";
import type { Grant } from "./rights.ts";

export interface Rule {
  path: string;
  grant: Grant;
}

/** Not shared with the sandbox: other people's temporary files, sockets and secrets of services, disks and terminals. */
const notShared = ["/tmp", "/run", "/dev"];
const harmlessDevices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/** Landlock can only add, so around something hidden every neighbour is a rule; a rule takes about 10 µs. */
const mostRules = 5000;

export interface PlanOptions {
  /** The one directory for temporary files; Landlock cannot make /tmp private. */
  temporary: string;
  euid: number;
}

export function planRules(policy: SandboxPolicy, { temporary, euid }: PlanOptions): Rule[] {
  const hidden = [...policy.hidden, ...(euid === 0 ? hiddenFromRoot : [])].flatMap(resolveExisting);
  const roots = policy.mode === "workspace-write" ? [policy.root, ...policy.writableRoots].map(resolveRoot) : [];
  for (const root of roots) refuseHiddenInside(root, hidden);
  const around = readable("/", [...hidden, ...notShared]);
  const shown = [policy.root, ...policy.shown].flatMap(resolveExisting).flatMap((path) => readable(path, hidden));
  const rules = [
    ...[...around, ...shown].map((path): Rule => ({ path, grant: "read" })),
    ...[...roots, temporary].map((path): Rule => ({ path, grant: "write" })),
    ...harmlessDevices.filter((path) => existsSync(path)).map((path): Rule => ({ path, grant: "device" })),
  ];
  if (rules.length > mostRules) throw tooManyRules(rules.length);
  return rules;
}

/** What together makes up the directory without what is closed in it. */
function readable(path: string, closed: string[]): string[] {
  if (closed.includes(path)) return [];
  if (!closed.some((secret) => contains(path, secret))) return [path];
  return entriesOf(path)
    .filter((entry) => !entry.isSymbolicLink())
    .flatMap((entry) => readable(join(path, entry.name), closed));
}

/** Nothing in a directory that we may not list ourselves. */
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
  throw new SandboxUnavailable(`The writable directory ${path} does not exist.`, "Create it or leave it out.");
}

function resolveExisting(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}

function refuseHiddenInside(root: string, hidden: string[]): void {
  const secret = hidden.find((path) => contains(root, path));
  if (secret === undefined) return;
  throw new SandboxUnavailable(
    `Landlock cannot hide ${secret} inside the writable directory ${root}.`,
    "Work in a directory without it, run read-only, or make bubblewrap work: see agentcli sandbox probe.",
  );
}

const tooManyRules = (count: number) =>
  new SandboxUnavailable(
    `Hiding what must be hidden would take ${count} Landlock rules, more than ${mostRules}.`,
    "Move what is hidden out of directories with very many entries, or make bubblewrap work.",
  );
