// Looks at the disk and turns a policy into mounts, or refuses one that could not be kept.
import { lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { findCommonDirectory, findGitDirectory } from "../git/repository.ts";
import { type Mount, type MountPlan, privateMounts } from "./bubblewrap.ts";
import { isMountPoint } from "./mount-points.ts";
import type { SandboxPolicy } from "./policy.ts";
import { SandboxUnavailable } from "./sandbox-unavailable.ts";

/** Readable by the owner whatever capabilities are dropped, and the owner is root. */
export const hiddenFromRoot = [
  ...["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/krb5.keytab"],
  ...["rsa", "dsa", "ecdsa", "ed25519"].map((kind) => `/etc/ssh/ssh_host_${kind}_key`),
  "/etc/ssl/private",
];

export function planMounts(policy: SandboxPolicy, euid: number): MountPlan {
  const mounts: Mount[] = [...privateMounts(euid)];
  const hidden = [...policy.hidden, ...(euid === 0 ? hiddenFromRoot : [])].flatMap(resolveExisting);
  const roots = policy.mode === "workspace-write" ? writableRoots(policy) : [];
  mounts.push(...hidden.map(hide), ...roots.map((path): Mount => ({ kind: "writable", path })));
  mounts.push(...roots.flatMap((root) => protect(root, policy, hidden)));
  for (const path of [policy.root, ...policy.shown]) mounts.push(...show(path, mounts));
  return {
    root: policy.root,
    network: policy.network,
    nestedSandboxes: policy.nestedSandboxes,
    processes: "own",
    mounts: mounts.filter((mount) => !isHiding(mount) || !isInPrivate(mount.path, mounts)),
  };
}

function writableRoots(policy: SandboxPolicy): string[] {
  const roots = [policy.root, ...policy.writableRoots].map((path) => {
    const [real] = resolveExisting(path);
    if (real === undefined)
      throw new SandboxUnavailable(`The writable directory ${path} does not exist.`, "Create it or leave it out.");
    return real;
  });
  return [...new Set(roots)];
}

const resolveExisting = (path: string): string[] => {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
};

const hide = (path: string): Mount =>
  statSync(path).isDirectory() ? { kind: "hidden-directory", path } : { kind: "hidden-file", path };

function protect(root: string, policy: SandboxPolicy, hidden: string[]): Mount[] {
  return policy.protectedNames.flatMap((name): Mount[] => {
    const path = join(root, name);
    const entry = lookAt(path);
    if (entry === undefined || isMountPoint(path)) return [{ kind: "absent", path }];
    if (entry.isSymbolicLink()) throw refuseSymlink(path);
    const own: Mount = { kind: "read-only", path, source: path };
    return name === ".git" && entry.isFile() ? [own, ...protectLinkedRepository(root, hidden)] : [own];
  });
}

/** A linked working tree keeps its repository elsewhere, maybe in another writable root, maybe under /tmp. */
function protectLinkedRepository(root: string, hidden: string[]): Mount[] {
  const gitDirectory = findGitDirectory(root);
  if (gitDirectory === undefined) return [];
  return [gitDirectory, findCommonDirectory(gitDirectory)]
    .flatMap(resolveExisting)
    .filter((path) => !hidden.some((secret) => contains(secret, path)))
    .map((path) => ({ kind: "read-only", path, source: path }));
}

/** Following the link would protect its target while the link itself could be replaced. */
export const refuseSymlink = (path: string) =>
  new SandboxUnavailable(
    `${path} is a symbolic link, which cannot be protected from being replaced.`,
    "Put a real directory in its place, or run read-only.",
  );

/** Nothing to do where the path can be seen already. The parent's real name is used, the last name is kept. */
function show(path: string, mounts: Mount[]): Mount[] {
  const [source] = resolveExisting(path);
  const [parent] = resolveExisting(dirname(path));
  if (source === undefined || parent === undefined) return [];
  const visibleAs = parent === "/" ? `/${basename(path)}` : join(parent, basename(path));
  const paths = visibleAs === source ? [source] : [visibleAs, source];
  return paths.filter((place) => isMasked(place, mounts)).map((place) => ({ kind: "read-only", path: place, source }));
}

const isMasked = (path: string, mounts: Mount[]) => {
  const deciding = decidingMount(path, mounts);
  return deciding !== undefined && ["private", "hidden-directory", "absent"].includes(deciding.kind);
};

const isHiding = (mount: Mount) => mount.kind === "hidden-file" || mount.kind === "hidden-directory";

/** What is to be hidden and lies in a private directory is not there anyway. */
const isInPrivate = (path: string, mounts: Mount[]) =>
  decidingMount(
    path,
    mounts.filter((mount) => mount.path !== path),
  )?.kind === "private";

/** The deepest mount at or above the path; of several at one place the last. */
function decidingMount(path: string, mounts: Mount[]): Mount | undefined {
  let deciding: Mount | undefined;
  for (const mount of mounts) {
    if (contains(mount.path, path) && mount.path.length >= (deciding?.path.length ?? 0)) deciding = mount;
  }
  return deciding;
}

export const contains = (directory: string, path: string): boolean =>
  path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`);

function lookAt(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}
