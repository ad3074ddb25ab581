// Why a command met a refusal: what the sandbox blocks here, and what works instead. Nothing if the sandbox is not the cause.
import { accessSync, constants } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { contains } from "../../paths.ts";
import type { BackEnd } from "../back-end.ts";
import type { MachineDisk } from "../machine-disk.ts";
import { isMountPoint } from "../mount-points.ts";
import { hiddenFromRoot } from "../paths.ts";
import type { SandboxPolicy } from "../policy.ts";
import { pathsIn, type ReportedLine } from "./lines.ts";

export interface Confinement {
  policy: SandboxPolicy;
  backEnd: BackEnd["kind"];
  /** Where commands may write temporary files. */
  temporary: string;
  /** How commands reach hosts that are allowed. */
  egress: MachineDisk["egress"];
}

export interface Attempt {
  lines: ReportedLine[];
  /** Where the command started. */
  directory: string;
  exitCode: number;
}

/** One line; undefined if the sandbox is not the cause. */
export function explainRefusal(attempt: Attempt, confinement: Confinement): string | undefined {
  const sentences = attempt.lines.flatMap((line) => sentenceFor(line, attempt, confinement) ?? []);
  const [first] = sentences;
  if (first === undefined) return undefined;
  const network = sentences.find((sentence) => sentence.startsWith(networkStart));
  const all = network === undefined || network === first ? [first] : [first, network];
  return `[sandbox ${confinement.policy.mode}] ${all.join(" ")}`;
}

function sentenceFor(line: ReportedLine, attempt: Attempt, confinement: Confinement): string | undefined {
  switch (line.symptom) {
    case "network":
      return isAboutLoopback(line, confinement) ? undefined : describeNetwork(confinement);
    case "read-only":
      return confinement.backEnd === "bubblewrap" ? describeWrite(line, attempt, confinement) : undefined;
    case "denied":
      return describeDenied(line, attempt, confinement);
    case "not-permitted":
      return describeNotPermitted(line, attempt, confinement);
  }
}

const networkStart = "The network is";

/** The loopback device of bubblewrap works; nothing listens on it unless a command does. */
const isAboutLoopback = ({ text }: ReportedLine, { backEnd }: Confinement) =>
  backEnd === "bubblewrap" && /\blocalhost\b|\b127\.\d|\[?::1\b/.test(text);

function describeNetwork({ policy, egress }: Confinement): string | undefined {
  const { network, allowedDomains, view } = policy;
  if (network === "proxy" && egress === "transparent")
    return `${networkStart} limited: only to ${listed(allowedDomains)}, by name and with TCP; other names are not resolved.`;
  switch (network) {
    case "on":
      return undefined;
    case "proxy":
      return `${networkStart} limited: only through the proxy in HTTPS_PROXY and HTTP_PROXY, and only to ${listed(allowedDomains)}; names are not resolved otherwise.${view === "machine" ? " The user can add hosts with sandbox_workspace_write.allowed_domains." : ""}`;
    case "off":
      return `${networkStart} off, so names and other machines cannot be reached. Work with what is installed, vendored or cached${view === "machine" ? "; the user can allow it with -s workspace-write -c sandbox_workspace_write.network_access=true" : ""}.`;
  }
}

const listed = (domains: string[]) =>
  domains.length === 0 ? "no host" : domains.slice(0, 8).join(", ") + (domains.length > 8 ? ", …" : "");

function describeWrite(line: ReportedLine, attempt: Attempt, confinement: Confinement): string | undefined {
  const { policy } = confinement;
  const paths = absolutePaths(line, attempt);
  if (policy.mode === "read-only") return describeReadOnly(confinement);
  const blocked = paths.find((path) => !isFree(path, confinement));
  if (blocked !== undefined) return describeBlocked(blocked, confinement);
  // A path that cannot be in a free directory after all: the command changed its directory before.
  return paths.every((path) => isAbsolutelyNamed(path, line)) && paths.length > 0
    ? undefined
    : describeOutside("That path", confinement);
}

const describeReadOnly = ({ policy, temporary }: Confinement) =>
  `Nothing can be written here except in ${temporary}.${policy.view === "machine" ? " The user can allow changes in the workspace with -s workspace-write." : ""}`;

/** Landlock answers so to every write outside; both do to root, who has no more rights than the files give. */
function describeDenied(line: ReportedLine, attempt: Attempt, confinement: Confinement): string | undefined {
  const { policy, backEnd } = confinement;
  if (attempt.exitCode === notExecutable) return undefined;
  const paths = absolutePaths(line, attempt);
  const hidden = paths.find((path) => isHidden(path, policy));
  if (hidden !== undefined) return describeHidden(hidden);
  if (isMount(line)) return withoutPrivileges;
  const refused = paths.find((path) => !isFree(path, confinement) && isReadableOutside(path));
  if (refused === undefined) return undefined;
  if (backEnd === "bubblewrap") return isRoot() && exists(refused) ? withoutPrivileges : undefined;
  return policy.mode === "read-only" ? describeReadOnly(confinement) : describeBlocked(refused, confinement);
}

/** The exit code of a shell for a file that it cannot execute. */
const notExecutable = 126;
const isMount = ({ text }: ReportedLine) => /^u?mount: /.test(text);

/** Only root may change owners of files, also without a sandbox. */
function describeNotPermitted(line: ReportedLine, attempt: Attempt, confinement: Confinement): string | undefined {
  if (/\b(?:socket|connect|sendto|ping)\b/i.test(line.text)) return describeNetwork(confinement);
  const paths = absolutePaths(line, attempt);
  const isAboutFiles = paths.some((path) => exists(path));
  return isAboutFiles && !isRoot() && !setsId(line) ? undefined : withoutPrivileges;
}

const setsId = ({ text }: ReportedLine) => text.startsWith("chmod: ");

const withoutPrivileges =
  "Commands have no privileges here, also not those of root: no mounts, namespaces, tracing, raw sockets, set-id bits, owners of files or access to files and processes of others. Do it without them.";

function describeBlocked(path: string, confinement: Confinement): string {
  const { policy } = confinement;
  if (isHidden(path, policy)) return describeHidden(path);
  const isProtected = roots(policy).some((root) => contains(root, path));
  if (!isProtected) return describeOutside(path, confinement);
  return `${path} is protected: commands cannot change ${policy.protectedNames.join(", ")} of the workspace, settings and hooks of repositories, or what hooks run. Leave it, or ask the user to change it.`;
}

const describeHidden = (path: string) =>
  `${path} is hidden from commands: it may hold credentials or private data. Work without it.`;

const describeOutside = (path: string, { policy, temporary }: Confinement) =>
  `${path} is outside the directories that commands can write: ${[...roots(policy), temporary].join(", ")}. Use one of these${policy.view === "machine" ? ", or ask the user for --add-dir" : ""}.`;

const roots = ({ mode, root, writableRoots }: SandboxPolicy) =>
  mode === "workspace-write" ? [root, ...writableRoots] : [];

function isFree(path: string, { policy, backEnd, temporary }: Confinement): boolean {
  if ([temporary, ...(policy.cache === null ? [] : [policy.cache])].some((free) => contains(free, path))) return true;
  const root = roots(policy).findLast((directory) => contains(directory, path));
  if (root === undefined) return false;
  if (backEnd !== "bubblewrap") return true;
  const names = policy.protectedNames.map((name) => join(root, name));
  const fixed = [...names, ...policy.protectedPaths, ...policy.absentPaths.map((absent) => closedFor(absent, root))];
  const repositories = policy.protectedRepositories.map((directory) => join(directory, ".git"));
  return ![...fixed, ...repositories].some((directory) => contains(directory, path));
}

/** The first directory that is missing on the way to it: bubblewrap mounts an empty one there. */
function closedFor(absent: string, root: string): string {
  const parent = dirname(absent);
  if (!contains(root, parent) || parent === root) return absent;
  const above = closedFor(parent, root);
  return !exists(above) || isMountPoint(above) ? above : absent;
}

const isHidden = (path: string, { hidden }: SandboxPolicy) =>
  [...hidden, ...(isRoot() ? hiddenFromRoot : [])].some((directory) => contains(directory, path));

const absolutePaths = (line: ReportedLine, { directory }: Attempt) =>
  pathsIn(line.text).map((path) => resolve(directory, path));

const isAbsolutelyNamed = (path: string, { text }: ReportedLine) => isAbsolute(path) && text.includes(path);

/** If not, its mode is the cause, and it would be refused without a sandbox too. */
function isReadableOutside(path: string): boolean {
  if (exists(path)) return mayAccess(path, constants.R_OK);
  return path === "/" || isReadableOutside(dirname(path));
}

const exists = (path: string) => mayAccess(path, constants.F_OK);

function mayAccess(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

const isRoot = () => process.geteuid?.() === 0;
