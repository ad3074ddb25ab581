// What the commands of one thread may access: a value, created once, enforced by the kernel.
import { realpathSync } from "node:fs";
import type { SandboxMode } from "@agentcli/protocol";
import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";
import { contains, resolveExisting } from "../paths.ts";
import type { Placement } from "./placement.ts";

export interface SandboxPolicy {
  mode: SandboxMode;
  /** Absolute, without symlinks. */
  root: string;
  /** Additional writable directories in workspace-write. */
  writableRoots: string[];
  /** A directory of build caches that commands can write in workspace-write, also inside a hidden one; null: none. */
  cache: string | null;
  /** The top directories whose ignore files count; null: those of the root and of the writable roots. */
  ignoreTops: string[] | null;
  /** With "proxy", only the hosts of allowedDomains can be reached. */
  network: "on" | "off" | "proxy";
  allowedDomains: string[];
  deniedDomains: string[];
  unixSockets: "allowed" | "refused";
  /** A directory of the host with sockets for commands, which they see as /run/platform; null: none. With bubblewrap alone. */
  sockets: string | null;
  /** Files and directories that commands cannot read, also if they are created or replaced later. */
  hidden: string[];
  /** Readable even inside a hidden directory. */
  shown: string[];
  /** "machine": all files except the hidden ones. "system": only what programs need of the system, the roots, and what is shown. */
  view: "machine" | "system";
  /** The user and group that commands run as; null: those of this process. Only root can change them. */
  userId: number | null;
  /** The directory of the workspace, if commands see it at another path than the host; only with the view "system". */
  placement: Placement | null;
  /** Directly under every writable root these cannot be changed, nor created if missing. */
  protectedNames: string[];
  /** Existing files and directories that cannot be changed, moved or replaced, also inside writable roots. */
  protectedPaths: string[];
  /** Of the program itself, such as the agent home. Those in writable roots are kept from being replaced. */
  ownDirectories: string[];
  /** Paths below writable roots at which nothing exists, and nothing can be created. Found when the sandbox is opened. */
  absentPaths: string[];
  /** Whether commands see a writable shadow of protected repositories, from which the host imports what is safe. */
  git: "commit" | "none";
  /** Whether the `.git` of repositories and submodules below writable roots may be changed, and new ones be added. */
  nestedRepositories: "protected" | "allowed";
  /** Directories below writable roots whose `.git` cannot be changed. Found when the sandbox is opened. */
  protectedRepositories: string[];
  /** Nested sandboxes create user namespaces. */
  nestedSandboxes: "allowed" | "refused";
}

/** Of other tools. Projects link them to folders that several tools share; such a link stays as it is. */
const namesOfOtherTools = [".claude", ".codex"];
export const protectedNames = [".git", ".agentcli", ".agents", ".platform", ...namesOfOtherTools];
export const mayBeLink = (name: string): boolean => namesOfOtherTools.includes(name);

export type PolicyOptions = Pick<SandboxPolicy, "mode" | "root"> & Partial<SandboxPolicy>;

/** Defaults: no network, no additional writable directories, nothing hidden. */
export function sandboxPolicy(options: PolicyOptions): SandboxPolicy {
  const root = realpathSync(options.root);
  const writableRoots = (options.writableRoots ?? []).map(resolveIfExists);
  if (options.placement) checkInside(options.placement, [root, ...writableRoots]);
  const isWritable = (path: string) => [root, ...writableRoots].some((directory) => contains(directory, path));
  return {
    network: options.mode === "danger-full-access" ? "on" : "off",
    allowedDomains: [],
    deniedDomains: [],
    unixSockets: "refused",
    sockets: null,
    cache: null,
    hidden: [],
    shown: [],
    ignoreTops: null,
    view: "machine",
    userId: null,
    placement: null,
    protectedNames,
    git: "commit",
    nestedRepositories: "protected",
    protectedRepositories: [],
    ownDirectories: [],
    absentPaths: [],
    nestedSandboxes: "refused",
    ...options,
    root,
    writableRoots,
    protectedPaths: (options.protectedPaths ?? []).flatMap(resolveExisting).filter(isWritable),
  };
}

/** What is placed elsewhere came from another machine or an earlier run: a link in it must not show other files of the host. */
function checkInside({ directory }: Placement, paths: string[]): void {
  const outside = paths.find((path) => !contains(directory, path));
  if (outside === undefined) return;
  throw new SandboxUnavailable(
    `A directory of the agent is a link to ${outside}, which is outside of ${directory}.`,
    "Remove the link.",
  );
}

/** A missing directory keeps its name, so that opening the sandbox can name it in the error. */
function resolveIfExists(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
