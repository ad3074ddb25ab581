// The socket file of a server: open to its owner alone, never in exchange for something else, removed only while it is its own.
import { randomBytes } from "node:crypto";
import { chmodSync, linkSync, lstatSync, mkdirSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import { connect } from "node:net";
import { basename, dirname, join } from "node:path";
import { CommandError } from "@agentcli/command-line";

export interface SocketFile {
  bind(server: Server): void;
  /** Once it is bound: gives it its name. */
  publish(): void;
  /** Leaves alone what has replaced it since. */
  remove(): void;
}

/** Throws where another server listens, or where the path is not a socket. */
export async function openSocketFile(path: string): Promise<SocketFile> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  refuseOtherFile(path);
  if (await isAnswered(path))
    throw new CommandError("usage", `Another server listens on ${path}. End it, or name another path.`);
  removeSocket(path);
  // Node removes what has the name that it was bound to when it closes, whatever that is by then. As long as the path: that is limited.
  const draft = join(dirname(path), randomBytes(64).toString("hex").slice(0, basename(path).length));
  let inode: bigint | undefined;
  return {
    bind: (server) => listenPrivately(server, draft),
    publish() {
      chmodSync(draft, 0o600);
      inode = inodeOf(draft);
      giveName(draft, path);
    },
    remove() {
      if (inode !== undefined && inodeOf(path) === inode) rmSync(path, { force: true });
    },
  };
}

/** The umask is set while the file is created: no other user can connect before its mode is set. */
function listenPrivately(server: Server, path: string): void {
  const mask = process.umask(0o177);
  try {
    server.listen(path);
  } finally {
    process.umask(mask);
  }
}

/** Fails if there is something by now. */
function giveName(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (error) {
    throw new CommandError("usage", `Cannot listen on ${path}: ${(error as Error).message}.`);
  } finally {
    rmSync(draft, { force: true });
  }
}

const inodeOf = (path: string): bigint | undefined => lstatSync(path, { throwIfNoEntry: false, bigint: true })?.ino;

/** That of a server that died. */
function removeSocket(path: string): void {
  refuseOtherFile(path);
  rmSync(path, { force: true });
}

function refuseOtherFile(path: string): void {
  const isOther = lstatSync(path, { throwIfNoEntry: false })?.isSocket() === false;
  if (isOther) throw new CommandError("usage", `${path} is not a socket. Name another path.`);
}

/** Whether a server listens there. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = connect(path);
    probe.on("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.on("error", (error: NodeJS.ErrnoException) => {
      const isFree = error.code === "ECONNREFUSED" || error.code === "ENOENT";
      if (isFree) resolve(false);
      else reject(new CommandError("usage", `${path} cannot be used: ${error.message}. Name another path.`));
    });
  });
}
