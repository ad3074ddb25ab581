// Whether the other end of a connection over a socket file is a sandboxed process: the kernel knows which process opened it. Linux only.
import { closeSync, openSync } from "node:fs";
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
  if (descriptor === undefined) return "unidentified";
  const held = library.holdPeer(descriptor);
  if (held === null) return judge(library.peerOf(descriptor));
  try {
    const pid = pidOf(held);
    const peer = judge(pid);
    // Its number belongs to it for as long as it has not ended: another process may have been judged instead.
    return pidOf(held) === pid ? peer : "unidentified";
  } finally {
    closeSync(held);
  }
}

function judge(pid: number | null): Peer {
  if (pid === null || pid < 0) return "unidentified";
  // A process that this one cannot see is not in a sandbox of this machine's.
  if (pid === 0) return "unconfined";
  if (fieldOf(pid, "NSpid") === undefined) return "unidentified";
  return isFiltered(String(pid)) && (sharesProcessIds(pid) || isInside(pid)) ? "sandboxed" : "unconfined";
}

/** -1 once the process has ended, 0 for one that this one cannot see. */
function pidOf(held: number): number {
  const line = readLines(`/proc/self/fdinfo/${held}`).find((each) => each.startsWith("Pid:"));
  return line === undefined ? -1 : Number(line.slice("Pid:".length));
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
/** A descriptor of the process that connected, which no other process can take over. Since Linux 6.5. */
const peerDescriptor = 77;
const noSuchOption = 92;
/** Three integers: process, user, group. */
const credentialBytes = 12;

function openLibrary() {
  const koffi = koffiIfPresent();
  if (koffi === null) return null;
  const getOption = koffi.load(null).func("getsockopt", "int", ["int", "int", "int", "void *", "void *"]);
  return {
    /** Null where the kernel has no such descriptors; one that is of no process if this one has ended. */
    holdPeer(descriptor: number): number | null {
      const [held, length] = [Buffer.alloc(4), Buffer.alloc(4)];
      length.writeUInt32LE(4);
      if (getOption(descriptor, socketLevel, peerDescriptor, held, length) === 0) return held.readInt32LE(0);
      return koffi.errno() === noSuchOption ? null : openSync("/dev/null", "r");
    },
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
