// The command line of bubblewrap for a list of mounts. Pure.
import type { TemporaryShares } from "../../limits/index.ts";
import { contains } from "../../paths.ts";
import { type MachineDisk, sourceIn } from "../machine-disk.ts";
import { insidePath, type Placement } from "../placement.ts";

export type Mount =
  /** Empty at first, writable, discarded at the end. */
  | { kind: "private"; path: string; mode: string; bytes?: number | undefined }
  | { kind: "devices"; path: string }
  | { kind: "processes"; path: string }
  | { kind: "read-only"; path: string; source: string }
  | { kind: "writable"; path: string }
  | { kind: "symlink"; path: string; target: string }
  /** A file with this content, read from the descriptor. */
  | { kind: "generated"; path: string; content: string; descriptor: number }
  /** The disk of a machine as root directory. */
  | { kind: "disk"; path: "/"; source: string; access: "writable" | "read-only" }
  /** A directory of that disk, inside a directory of the host. May be gone. */
  | { kind: "kept"; path: string; source: string; access: "writable" | "read-only" }
  /** A root directory without anything. */
  | { kind: "empty-root"; path: "/" }
  /** For other mounts below it; bubblewrap would create it so that only its owner can enter. */
  | { kind: "directory"; path: string }
  /** A directory with only the entries that are mounted into it. */
  | { kind: "rebuilt"; path: string }
  /** Of a rebuilt directory. May have been deleted since. */
  | { kind: "entry"; path: string }
  /** A writable copy of a repository, with the real one inside. */
  | { kind: "shadow"; path: string; mode: string; bytes?: number | undefined }
  | { kind: "hidden-directory"; path: string }
  | { kind: "hidden-file"; path: string }
  /** Does not exist and must not be created. */
  | { kind: "absent"; path: string };

export interface MountPlan {
  root: string;
  /** "prepared": that of the process that starts bubblewrap, which has been separated from the host's. */
  network: "on" | "off" | "proxy" | "prepared";
  nestedSandboxes: "allowed" | "refused";
  /** "shared" where a container masks /proc: the kernel then refuses another mount of it, and writes to its settings. */
  processes: "own" | "shared";
  /** Null: the user of this process, in a user namespace. Otherwise root starts the command as this user. */
  userId: number | null;
  /** Mounts are named by paths of the host; this one is elsewhere inside. */
  placement: Placement | null;
  /** Set if bubblewrap starts in a machine: it is root there already. */
  machine?: Pick<MachineDisk, "capabilities" | "sources"> | undefined;
  mounts: Mount[];
}

export interface PrivateMountOptions {
  euid: number;
  /** The sizes of the private directories; default: the kernel's. */
  sizes?: TemporaryShares | undefined;
}

/** The mounts of every sandbox. Real root could write kernel settings even without capabilities: hence /proc/sys. */
export const privateMounts = ({ euid, sizes }: PrivateMountOptions): Mount[] => [
  { kind: "read-only", path: "/", source: "/" },
  { kind: "devices", path: "/dev" },
  { kind: "processes", path: "/proc" },
  ...(euid === 0 ? [{ kind: "read-only", path: "/proc/sys", source: "/proc/sys" } as const] : []),
  { kind: "private", path: "/tmp", mode: "1777", bytes: sizes?.tmp },
  { kind: "private", path: "/run", mode: "0755", bytes: sizes?.run },
  { kind: "private", path: "/dev/shm", mode: "1777", bytes: sizes?.shm },
];

export interface CommandInside {
  argv: string[];
  /** The descriptor that holds the system-call filter. */
  seccompDescriptor: number | undefined;
}

export function bubblewrapArguments(plan: MountPlan, inside: CommandInside): string[] {
  const own = plan.processes === "own";
  const root = insidePath(plan.placement, plan.root);
  const mounts = parentsFirst(plan.mounts.map((mount) => ({ mount, path: insidePath(plan.placement, mount.path) })));
  return [
    ...(plan.userId === null && plan.machine === undefined ? ["--unshare-user"] : []),
    ...[...(own ? ["--unshare-pid"] : []), "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...(plan.network === "on" || plan.network === "prepared" ? [] : ["--unshare-net"]),
    ...["--die-with-parent", "--new-session", "--cap-drop", "ALL"],
    ...rightsInside(plan).flatMap((name) => ["--cap-add", name]),
    // It writes a kernel setting. Without it, only the system-call filter refuses user namespaces.
    ...(plan.nestedSandboxes === "refused" && own && plan.userId === null && plan.machine === undefined
      ? ["--disable-userns"]
      : []),
    ...["--hostname", "sandbox"],
    ...mounts.flatMap((placed) => argumentsOf(withSource(placed, plan.machine), plan.processes)),
    // After all mounts: a path shown inside a hidden one needs its mount point created first.
    ...mounts.flatMap(({ mount, path }) => (isEmptied(mount) ? ["--remount-ro", path] : [])),
    // A file beside the devices would be in memory, without a limit.
    ...(plan.machine === undefined ? ["--remount-ro", "/dev"] : []),
    // Tools must not write kernel settings, interrupts or the memory of the server beside them.
    ...(plan.nestedSandboxes === "refused" && own ? ["--remount-ro", "/proc"] : []),
    ...["--chdir", plan.userId === null ? root : "/"],
    ...(inside.seccompDescriptor === undefined ? [] : ["--seccomp", String(inside.seccompDescriptor)]),
    "--",
    ...(plan.userId === null ? [] : asUser(plan.userId, root)),
    ...inside.argv,
  ];
}

function rightsInside({ userId, machine }: MountPlan): string[] {
  if (machine !== undefined) return machine.capabilities;
  return userId === null ? [] : ["CAP_SETUID", "CAP_SETGID"];
}

/**
 * The change of user removes every capability, and the signal for the death of the parent. Only then can the directory be
 * entered: root without capabilities has no access to the files of others.
 */
const asUser = (id: number, directory: string): string[] => [
  userProgram,
  ...[`--reuid=${id}`, `--regid=${id}`, "--clear-groups", "--inh-caps=-all", "--pdeathsig=KILL", "--"],
  ...["/bin/sh", "-c", 'cd "$0" && exec "$@"', directory],
];

/** Of util-linux. */
export const userProgram = "/usr/bin/setpriv";

/** A mount covers everything below it, so deeper ones come later; stable for equal depth. */
const parentsFirst = (mounts: PlacedMount[]) => [...mounts].sort((one, other) => depth(one.path) - depth(other.path));

interface PlacedMount {
  mount: Mount;
  /** Inside. */
  path: string;
}

/** Directories of the host are elsewhere for a bubblewrap that starts in a machine. */
function withSource({ mount, path }: PlacedMount, machine: MountPlan["machine"]): PlacedMount {
  if (machine === undefined) return { mount, path };
  const moved = (source: string) => sourceIn(machine, source);
  if (mount.kind === "read-only") return { path, mount: { ...mount, source: moved(mount.source) } };
  return mount.kind === "writable" || mount.kind === "entry"
    ? { path, mount: { ...mount, path: moved(mount.path) } }
    : { mount, path };
}

/** The deepest mount at or above the path; of several at one path the last. */
export function decidingMount(path: string, mounts: Mount[]): Mount | undefined {
  let deciding: Mount | undefined;
  for (const mount of mounts) {
    if (contains(mount.path, path) && mount.path.length >= (deciding?.path.length ?? 0)) deciding = mount;
  }
  return deciding;
}

/** After mount points were made in it. */
const isEmptied = (mount: Mount) =>
  emptyKinds.includes(mount.kind) || (mount.kind === "disk" && mount.access === "read-only");
const emptyKinds: Mount["kind"][] = ["hidden-directory", "absent", "rebuilt", "empty-root"];

const depth = (path: string) => path.split("/").filter((name) => name !== "").length;

function argumentsOf({ mount, path }: PlacedMount, processes: MountPlan["processes"]): string[] {
  switch (mount.kind) {
    case "private":
    case "shadow":
      return [
        ...["--perms", mount.mode],
        ...(mount.bytes === undefined ? [] : ["--size", String(mount.bytes)]),
        ...["--tmpfs", path],
      ];
    case "devices":
      return ["--dev", path];
    case "processes":
      return processes === "own" ? ["--proc", path] : ["--ro-bind", mount.path, path];
    case "read-only":
      return ["--ro-bind", mount.source, path];
    case "writable":
      return ["--bind", mount.path, path];
    case "symlink":
      return ["--symlink", mount.target, path];
    case "generated":
      return ["--perms", "0644", "--ro-bind-data", String(mount.descriptor), path];
    case "directory":
      return ["--perms", "0755", "--dir", path];
    case "empty-root":
      return [];
    case "disk":
      return ["--bind", mount.source, path];
    case "kept":
      return [mount.access === "writable" ? "--bind-try" : "--ro-bind-try", mount.source, path];
    case "rebuilt":
      return ["--perms", "0755", "--tmpfs", path];
    case "entry":
      return ["--ro-bind-try", mount.path, path];
    case "hidden-directory":
    case "absent":
      return ["--perms", "0555", "--tmpfs", path];
    case "hidden-file":
      return ["--ro-bind", "/dev/null", path];
  }
}
