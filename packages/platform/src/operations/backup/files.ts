// Which files of the data directory belong in a backup: those that the platform keeps there, and no others.
import { isUtf8 } from "node:buffer";
import { lstatSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { readlink } from "node:fs/promises";
import { join } from "node:path";
import { pathTo, type TreeEntry, walk } from "../../foundation/index.ts";
import { BackupError } from "./backup-error.ts";
import { type FileSection, maxPathBytes } from "./format.ts";

/** Files of the database, of a running server and of the installation. */
const ofThisMachine =
  /^(?:postgres.*|server\.json.*|server\.log|config\.toml|machines|images|reserve|restoring|data-id|disks)$/;

/** Stored as a section of its own, and read before the tables: it must not be ahead of them. */
export const auditHeadFile = "audit-head";

const allowed = {
  directory: /^(?:(?:artifacts|handoffs|mirrors|repositories|workspaces)(?:\/.*)?|ssh)$/s,
  file: /^(?:(?:artifacts|handoffs|mirrors|repositories|workspaces)\/.*|ssh\/(?:id|known_hosts)[^/]*|signing-key[^/]*)$/s,
  link: /^(?:artifacts|handoffs|mirrors|repositories|workspaces)\/.*$/s,
};

export const isAllowed = ({ kind, path }: FileSection): boolean => allowed[kind].test(path);

/** In an unsealed backup they would let a reader sign and log in as the platform. */
export const isPrivateKey = ({ path }: FileSection): boolean => /^(?:signing-key.*|ssh\/id.*)$/s.test(path);

export interface Listing {
  dataDirectory: string;
  /** Never included. */
  kekFile: string;
  /** Whether private keys of the platform are included. */
  keys: "all" | "public";
}

export interface FoundFile {
  section: FileSection;
  entry: TreeEntry;
}

/** What is missing in a backup, though it is a file of the platform, and why. */
export interface LeftOut {
  path: string;
  reason: string;
}

/** Directories come before their contents. */
export async function* listFiles(
  { dataDirectory, keys }: Listing,
  onLeftOut: (file: LeftOut) => void,
): AsyncGenerator<FoundFile> {
  for await (const visit of walk(realpathSync(dataDirectory), { access: "read", order: inOrder })) {
    const { kind, entry } = visit;
    if (kind === "left") continue;
    if (entry.parent === null) throw new BackupError(unreadable(dataDirectory));
    const reason = kind === "unread" ? "it could not be read" : await obstacleTo(entry);
    const path = shownPath(entry);
    const section = reason === null ? await sectionOf(entry, path) : null;
    const isIncluded = section !== null && isAllowed(section) && !isLock(path);
    if (kind === "entry") visit.descend = isIncluded && section.kind === "directory";
    if (reason !== null && isPlatformPath(path)) onLeftOut({ path, reason });
    if (isIncluded && (keys === "all" || !isPrivateKey(section))) yield { section, entry };
  }
}

const unreadable = (dataDirectory: string): string =>
  `The data directory ${dataDirectory} could not be read. Run the command as the user that the server runs as.`;

const isPlatformPath = (path: string): boolean =>
  (["file", "directory"] as const).some((kind) => isAllowed({ kind, path, mode: 0 }));

/** Names in the data directory that no backup includes, though they may be the operator's. */
export const listOthers = ({ dataDirectory, kekFile }: Listing): string[] =>
  readdirSync(dataDirectory)
    .sort()
    .filter((name) => {
      const kind = kindOf(lstatSync(join(dataDirectory, name), { throwIfNoEntry: false }));
      const isPlatformFile = kind && allowed[kind].test(name);
      const isOurs = ofThisMachine.test(name) || name.startsWith(auditHeadFile);
      return kind && !isPlatformFile && !isOurs && !join(dataDirectory, name).startsWith(kekFile);
    });

/** Why a restore could not create it. */
async function obstacleTo(entry: TreeEntry): Promise<string | null> {
  if (!isUtf8(entry.name)) return "its name is not UTF-8";
  if (entry.stats.isSymbolicLink() && !isUtf8(await targetOf(entry))) return "its target is not UTF-8";
  return entry.pathBytes > maxPathBytes ? `its path is longer than ${maxPathBytes} bytes` : null;
}

/** The beginning of a path that is too long. */
function shownPath(entry: TreeEntry): string {
  let at = entry;
  while (at.parent && at.pathBytes > maxPathBytes + maxNameBytes) at = at.parent;
  return pathTo(at).toString();
}

const maxNameBytes = 256;

type Kind = FileSection["kind"];

/** Null for what is neither file, directory nor link, or was removed meanwhile. */
function kindOf(stats: Stats | undefined): Kind | null {
  if (stats?.isSymbolicLink()) return "link";
  if (stats?.isFile()) return "file";
  return stats?.isDirectory() ? "directory" : null;
}

async function sectionOf(entry: TreeEntry, path: string): Promise<FileSection | null> {
  const kind = kindOf(entry.stats);
  // An agent's file may have set-id bits; they are not restored.
  if (kind !== "link") return kind && { kind, path, mode: entry.stats.mode & 0o777 };
  const target = (await targetOf(entry)).toString();
  return target === "" ? null : { kind, path, target };
}

/** Empty if it is no longer a link. */
const targetOf = ({ address }: TreeEntry): Promise<Buffer> =>
  readlink(address, { encoding: "buffer" }).catch(() => Buffer.alloc(0));

const inOrder = (names: Buffer[]): Buffer[] => forGit(names.sort(Buffer.compare));

/** Refs before objects: objects are only added, so everything the refs name is still there. */
function forGit(names: Buffer[]): Buffer[] {
  const isNamed = (text: string) => (name: Buffer) => name.equals(Buffer.from(text));
  if (!["HEAD", "objects", "refs"].every((text) => names.some(isNamed(text)))) return names;
  const isObjects = isNamed("objects");
  return [...names.filter((name) => !isObjects(name)), ...names.filter(isObjects)];
}

/** A lock of a git operation in progress: restored, it would block every later one. Directories of agents may have any name. */
const isLock = (path: string): boolean =>
  (path.startsWith("workspaces/") ? /\/\.git\// : /\.git\//).test(path) && /[^/]\.lock$/.test(path);
