// Turns a policy into mounts for the files on disk, or refuses a policy that cannot be enforced.

import { lstatSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";
import { findCommonDirectory, findGitDirectory } from "../../git/index.ts";
import { shareTemporary, type TemporaryShares } from "../../limits/index.ts";
import { contains, resolveExisting } from "../../paths.ts";
import { findShadows, hostDirectory, type Shadow } from "../commits/shadow.ts";
import type { MachineDisk } from "../machine-disk.ts";
import { isMountPoint } from "../mount-points.ts";
import { guardOwnDirectories } from "../own-directories.ts";
import { hiddenFromRoot, refuseSymlink } from "../paths.ts";
import { insidePath } from "../placement.ts";
import { mayBeLink, type SandboxPolicy } from "../policy.ts";
import { decidingMount, type Mount, type MountPlan, type PrivateMountOptions, privateMounts } from "./arguments.ts";
import { hideMounts, maskInside, maskPath } from "./hide.ts";
import { protectAbsent, protectRepositories } from "./repositories.ts";
import { diskView, parentDirectories, systemView } from "./system-view.ts";

export interface PlanOptions {
  euid: number;
  /** Of all private directories together; default: the kernel's, for each. */
  bytes?: number | undefined;
  /** HOME inside. */
  home: string;
  /** Instead of the view of the policy. */
  disk?: MachineDisk | undefined;
}

export interface PlannedMounts extends MountPlan {
  /** The directories that commands can write. */
  roots: string[];
  /** Repositories that commands see a writable copy of. */
  shadows: Shadow[];
}

export function planMounts(policy: SandboxPolicy, options: PlanOptions): PlannedMounts {
  const roots = policy.mode === "workspace-write" ? writableRoots(policy) : [];
  const linked = guardOwnDirectories(policy.ownDirectories, roots);
  const hidden = [...policy.hidden, ...(options.euid === 0 ? hiddenFromRoot : [])].flatMap(resolveExisting);
  const shadows = findShadows(policy).filter(({ commonDirectory }) => !isInside(commonDirectory, hidden));
  const sizes = sizesOf(policy, options, shadows);
  const mounts = viewOf(policy, roots, { ...options, sizes });
  const shadowed = shadows.map(({ commonDirectory }) => commonDirectory);
  // A shadow covers what is below it, and has mounts of its own.
  const isReal = ({ path }: Mount) => !isInside(path, shadowed);
  const cache = policy.mode === "workspace-write" && policy.cache !== null ? [policy.cache] : [];
  mounts.push(...[...roots, ...cache].map((path): Mount => ({ kind: "writable", path })));
  mounts.push(...roots.flatMap((root) => protect(root, policy, hidden)).filter(isReal));
  mounts.push(...protectPaths([...policy.protectedPaths, ...linked], roots, mounts).filter(isReal));
  mounts.push(...pinHidden([...policy.ownDirectories, ...policy.hidden], roots, mounts).filter(isReal));
  if (roots.length > 0) mounts.push(...protectRepositories(policy.protectedRepositories, mounts).filter(isReal));
  if (roots.length > 0) mounts.push(...protectAbsent(policy.absentPaths, mounts).filter(isReal));
  mounts.push(...shadows.flatMap((shadow) => shadowMounts(shadow, policy, sizes?.repository)));
  for (const path of [policy.root, ...policy.shown]) mounts.push(...show(path, mounts));
  mounts.push(...keptMounts(policy, options.disk));
  if (policy.sockets !== null) mounts.push({ kind: "read-only", path: socketsPath, source: policy.sockets });
  if (policy.view === "system") mounts.push(...parentDirectories(mounts.map(placedBy(policy))));
  return {
    root: policy.root,
    roots,
    network: policy.network,
    nestedSandboxes: policy.nestedSandboxes,
    processes: "own",
    userId: policy.userId,
    placement: policy.placement,
    machine: options.disk,
    shadows,
    mounts: mounts.filter((mount) => !isHiding(mount) || !isInPrivate(mount.path, mounts)),
  };
}

/** Where commands see the sockets of the policy. */
const socketsPath = "/run/platform";

type ViewOptions = Omit<PlanOptions, "bytes"> & PrivateMountOptions;

function sizesOf(
  { view }: SandboxPolicy,
  { bytes, disk }: PlanOptions,
  { length: repositories }: Shadow[],
): TemporaryShares | undefined {
  const varTmp = view === "system" && disk === undefined ? "private" : "absent";
  return bytes === undefined ? undefined : shareTemporary(bytes, { repositories, varTmp });
}

function viewOf(policy: SandboxPolicy, roots: string[], options: ViewOptions): Mount[] {
  if (!options.disk && policy.view === "machine") return machineView(policy, roots, options);
  const view = options.disk ? diskView(options.disk, policy.mode, options) : systemView(policy, options);
  return [...view, ...maskInside([policy.root, ...policy.writableRoots], policy.hidden)];
}

const keptMounts = ({ mode }: SandboxPolicy, disk: MachineDisk | undefined): Mount[] =>
  (disk?.kept ?? []).map(({ path, source }) => ({
    ...{ kind: "kept", path, source },
    access: mode === "workspace-write" ? "writable" : "read-only",
  }));

const placedBy =
  ({ placement }: SandboxPolicy) =>
  (mount: Mount): Mount =>
    ({ ...mount, path: insidePath(placement, mount.path) }) as Mount;

/** All files of the machine except the hidden ones. */
function machineView(policy: SandboxPolicy, roots: string[], options: ViewOptions): Mount[] {
  const systemHidden = (options.euid === 0 ? hiddenFromRoot : []).flatMap(resolveExisting);
  const hiding = hideMounts(policy.hidden, [policy.root, ...roots]);
  return [...privateMounts(options), ...hiding, ...systemHidden.map(maskPath)];
}

function writableRoots(policy: SandboxPolicy): string[] {
  const roots = [policy.root, ...policy.writableRoots].map((path) => {
    const [real] = resolveExisting(path);
    if (real === undefined)
      throw new SandboxUnavailable(
        `The writable directory ${path} does not exist.`,
        "Create it, or remove it from the writable directories.",
      );
    return real;
  });
  return [...new Set(roots)];
}

function protect(root: string, policy: SandboxPolicy, hidden: string[]): Mount[] {
  return policy.protectedNames.flatMap((name): Mount[] => {
    const path = join(root, name);
    const entry = lstatIfExists(path);
    if (entry === undefined || isMountPoint(path)) return [{ kind: "absent", path }];
    if (entry.isSymbolicLink() && mayBeLink(name)) return [];
    if (entry.isSymbolicLink()) throw refuseSymlink(path);
    const own: Mount = { kind: "read-only", path, source: path };
    return name === ".git" && entry.isFile() ? [own, ...protectLinkedRepository(root, hidden)] : [own];
  });
}

/** A mount point cannot be renamed, so every directory above a protected path becomes one too. */
function protectPaths(protectedPaths: string[], roots: string[], mounts: Mount[]): Mount[] {
  const protectedMounts = protectedPaths.flatMap((path): Mount[] => {
    const root = roots.findLast((candidate) => contains(candidate, path) && candidate !== path);
    if (root === undefined || decidingMount(path, mounts)?.kind !== "writable") return [];
    const own: Mount = { kind: "read-only", path, source: path };
    return [...directoriesBetween(root, path).map((directory): Mount => ({ kind: "writable", path: directory })), own];
  });
  const byPath = new Map<string, Mount>();
  for (const mount of protectedMounts) if (byPath.get(mount.path)?.kind !== "read-only") byPath.set(mount.path, mount);
  return [...byPath.values()];
}

/**
 * The same for what is hidden: under another name the next run would not hide it, and in place of a directory of the program
 * itself others could be created.
 */
function pinHidden(hidden: string[], roots: string[], mounts: Mount[]): Mount[] {
  const between = hidden.flatMap(resolveExisting).flatMap((path) => {
    const root = roots.findLast((candidate) => contains(candidate, path) && candidate !== path);
    return root === undefined ? [] : directoriesBetween(root, path);
  });
  // Not in what is hidden itself: it would be shown.
  const isWritable = (directory: string) => {
    const deciding = decidingMount(directory, mounts);
    return deciding?.kind === "writable" && deciding.path !== directory;
  };
  return [...new Set(between)].filter(isWritable).map((path): Mount => ({ kind: "writable", path }));
}

function directoriesBetween(root: string, path: string): string[] {
  const directory = dirname(path);
  return directory === root ? [] : [...directoriesBetween(root, directory), directory];
}

const isInside = (path: string, directories: string[]) => directories.some((directory) => contains(directory, path));

/** The copy is empty at first; the real repository is mounted inside. */
const shadowMounts = (
  { commonDirectory, mountedDirectories }: Shadow,
  { userId }: SandboxPolicy,
  bytes: number | undefined,
): Mount[] => [
  // The mount belongs to the user who mounts it, which is root where commands run as another one.
  { kind: "shadow", path: commonDirectory, mode: userId === null ? "0755" : "0777", bytes },
  { kind: "read-only", path: join(commonDirectory, hostDirectory), source: commonDirectory },
  ...mountedDirectories.map(
    (name): Mount => ({ kind: "read-only", path: join(commonDirectory, name), source: join(commonDirectory, name) }),
  ),
];

/** The repository of a linked working tree is elsewhere, maybe in another writable root, maybe under /tmp. */
function protectLinkedRepository(root: string, hidden: string[]): Mount[] {
  const gitDirectory = findGitDirectory(root);
  if (gitDirectory === undefined) return [];
  return [gitDirectory, findCommonDirectory(gitDirectory)]
    .flatMap(resolveExisting)
    .filter((path) => !hidden.some((secret) => contains(secret, path)))
    .map((path) => ({ kind: "read-only", path, source: path }));
}

/** No mounts if the path is visible already. Resolves the parent, keeps the last name. */
function show(path: string, mounts: Mount[]): Mount[] {
  const [source] = resolveExisting(path);
  const [parent] = resolveExisting(dirname(path));
  if (source === undefined || parent === undefined) return [];
  const visibleAs = parent === "/" ? `/${basename(path)}` : join(parent, basename(path));
  const paths = visibleAs === source ? [source] : [visibleAs, source];
  return paths
    .filter((candidate) => isMasked(candidate, mounts))
    .map((candidate) => ({ kind: "read-only", path: candidate, source }));
}

const isMasked = (path: string, mounts: Mount[]) => {
  const deciding = decidingMount(path, mounts);
  return (
    deciding !== undefined &&
    ["disk", "empty-root", "private", "hidden-directory", "rebuilt", "absent"].includes(deciding.kind)
  );
};

const isHiding = (mount: Mount) => mount.kind === "hidden-file" || mount.kind === "hidden-directory";

/** A hidden path in a private directory does not exist inside anyway. */
const isInPrivate = (path: string, mounts: Mount[]) =>
  decidingMount(
    path,
    mounts.filter((mount) => mount.path !== path),
  )?.kind === "private";

function lstatIfExists(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}
