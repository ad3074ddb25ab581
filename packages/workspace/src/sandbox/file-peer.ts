// Whether the other end of a connection over a socket file is a sandboxed process: the kernel knows which process opened it. Linux only.
import { type Koffi, loadKoffi } from "../koffi.ts";
import { readLines } from "../sockets/index.ts";
import { isFiltered, type Peer } from "./local-peer.ts";

/**
 * Containers have filters as well, and may connect: a sandboxed command shares the process ids of this process, descends from
 * it, or from a bubblewrap that another process of this program started. "unconfined" where the kernel cannot be asked: without the package for it there is no Landlock, and bubblewrap
 * hides the file.
 */
export function identifyFilePeer(descriptor: number | undefined): Peer {
  if (process.platform !== "linux") return "unconfined";
  const library = openLibrary();
  if (library === null) return "unconfined";
  const pid = descriptor === undefined ? null : library.peerOf(descriptor);
  if (pid === null) return "unidentified";
  // A process that this one cannot see is not in a sandbox of this machine's.
  if (pid === 0) return "unconfined";
  if (fieldOf(pid, "NSpid") === undefined) return "unidentified";
  return isFiltered(String(pid)) && (sharesProcessIds(pid) || isInside(pid)) ? "sandboxed" : "unconfined";
}

const sharesProcessIds = (pid: number): boolean => fieldOf(pid, "NSpid")?.split(/\s+/).length === 1;

/** No process can change its ancestors: orphans in a sandbox become children of its first process. */
function isInside(pid: number): boolean {
  for (let at = pid; at > 1; at = Number(fieldOf(at, "PPid") ?? 0))
    if (at === process.pid || fieldOf(at, "Name") === "bwrap") return true;
  return false;
}

const fieldOf = (pid: number, field: string): string | undefined =>
  readLines(`/proc/${pid}/status`)
    .find((line) => line.startsWith(`${field}:`))
    ?.slice(field.length + 1)
    .trim();

const socketLevel = 1;
const peerCredentials = 17;
/** Three integers: process, user, group. */
const credentialBytes = 12;

function openLibrary() {
  const koffi = koffiIfPresent();
  if (koffi === null) return null;
  const getOption = koffi.load(null).func("getsockopt", "int", ["int", "int", "int", "void *", "void *"]);
  return {
    /** 0 for a process that this one cannot see; null if the descriptor is not such a socket. */
    peerOf(descriptor: number): number | null {
      const [credentials, length] = [Buffer.alloc(credentialBytes), Buffer.alloc(4)];
      length.writeUInt32LE(credentialBytes);
      const result = getOption(descriptor, socketLevel, peerCredentials, credentials, length);
      return result === 0 ? credentials.readInt32LE(0) : null;
    },
  };
}

/** An optional dependency. */
function koffiIfPresent(): Koffi | null {
  try {
    return loadKoffi();
  } catch {
    return null;
  }
}
