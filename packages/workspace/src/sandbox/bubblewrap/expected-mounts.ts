// What the mounts in writable directories lead to. Bubblewrap opens each of them by its path, and another process may have
// put a link there in the meantime: the server inside compares before it serves anything.
import { closeSync, constants, fstatSync, openSync, readlinkSync } from "node:fs";
import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";
import { contains } from "../../paths.ts";
import type { ExpectedMount } from "../../server/index.ts";
import { insidePath, type Placement } from "../placement.ts";
import type { Mount } from "./arguments.ts";

export interface WritableDirectories {
  roots: string[];
  placement: Placement | null;
}

export function expectedMounts(mounts: Mount[], { roots, placement }: WritableDirectories): ExpectedMount[] {
  const isBelowRoot = (path: string) => roots.some((root) => path !== root && contains(root, path));
  return mounts.flatMap((mount): ExpectedMount[] => {
    if ((mount.kind !== "writable" && mount.kind !== "read-only") || !isBelowRoot(mount.path)) return [];
    const source = mount.kind === "read-only" ? mount.source : mount.path;
    return [{ path: insidePath(placement, mount.path), identity: identityOf(source) }];
  });
}

/** For paths without links: what is there now must really be there. */
function identityOf(path: string): string {
  const descriptor = openAt(path);
  try {
    const stats = fstatSync(descriptor, { bigint: true });
    if (stats.isSymbolicLink() || readlinkSync(`/proc/self/fd/${descriptor}`) !== path) throw replacedDuringStart(path);
    return `${stats.dev}:${stats.ino}`;
  } finally {
    closeSync(descriptor);
  }
}

function openAt(path: string): number {
  try {
    return openSync(path, openPath | constants.O_NOFOLLOW);
  } catch {
    // It was there when the mounts were planned.
    throw replacedDuringStart(path);
  }
}

/** O_PATH, which Node does not name: the file itself is not opened, so no permission is needed. */
const openPath = 0o10000000;

export const replacedDuringStart = (path: string): SandboxUnavailable =>
  new SandboxUnavailable(
    `${path} was replaced while the sandbox started.`,
    "Another process changes this workspace: wait until it has ended, or end it, and run again.",
  );
