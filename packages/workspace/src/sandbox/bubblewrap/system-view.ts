// A root directory with only what programs need: system directories read-only, made-up users, private temporary files.
import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { contains } from "../../paths.ts";
import type { MachineDisk } from "../machine-disk.ts";
import type { SandboxPolicy } from "../policy.ts";
import { existingSystemPaths, findSystemPath, generatedFiles } from "../system-paths.ts";
import { type Mount, type PrivateMountOptions, privateMounts } from "./arguments.ts";

export interface SystemViewOptions extends PrivateMountOptions {
  home: string;
}

/** Lower ones are taken: standard streams, setup, bridge. */
const firstDescriptor = 5;

export function systemView({ userId }: SandboxPolicy, options: SystemViewOptions): Mount[] {
  const user = { userId: userId ?? options.euid, home: options.home };
  return [
    { kind: "empty-root", path: "/" },
    ...privateMounts(options).filter(({ path }) => path !== "/"),
    { kind: "private", path: "/var/tmp", mode: "1777", bytes: options.sizes?.varTmp },
    ...existingSystemPaths().map(showSystemPath),
    ...generatedFiles(user).map(
      (file, index): Mount => ({ kind: "generated", ...file, descriptor: firstDescriptor + index }),
    ),
  ];
}

/** The disk of a machine has its own users and settings; it is shown as its policy says. */
export const diskView = (disk: MachineDisk, mode: SandboxPolicy["mode"], options: PrivateMountOptions): Mount[] => [
  { kind: "disk", path: "/", source: disk.root, access: mode === "workspace-write" ? "writable" : "read-only" },
  ...privateMounts({ ...options, euid: -1 }).filter(({ path }) => path !== "/"),
  ...disk.shown.map((shown): Mount => ({ kind: "read-only", ...shown })),
];

/** A link stays a link if its target is visible too. */
function showSystemPath(path: string): Mount {
  const source = realpathSync(path);
  const isLink = lstatSync(path).isSymbolicLink() && findSystemPath(source) !== undefined;
  return isLink ? { kind: "symlink", path, target: readlinkSync(path) } : { kind: "read-only", path, source };
}

/** Those between the root and the mounts. */
export function parentDirectories(mounts: Mount[]): Mount[] {
  const paths = new Set(mounts.map(({ path }) => path));
  const parents = new Set(mounts.flatMap(({ path }) => parentsOf(path)));
  const existing = mounts.filter(({ kind }) => !["disk", "empty-root", "private"].includes(kind));
  const isCovered = (path: string) => existing.some((mount) => contains(mount.path, path));
  return [...parents]
    .filter((path) => !paths.has(path) && !isCovered(path))
    .map((path) => ({ kind: "directory", path }));
}

const parentsOf = (path: string): string[] => {
  const parent = dirname(path);
  return parent === "/" ? [] : [...parentsOf(parent), parent];
};
