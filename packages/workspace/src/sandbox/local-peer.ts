// Whether the other end of a TCP connection is a sandboxed process of this machine. Linux only.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { isIPv4 } from "node:net";
import { setImmediate as nextTask } from "node:timers/promises";
import { isOwn, isProxied } from "../egress/index.ts";

/** As a server's socket reports them; undefined once it is closed. */
export interface ConnectionEnds {
  localAddress?: string;
  localPort?: number;
  remoteAddress?: string;
  remotePort?: number;
}

/**
 * "unidentified" is a local process that may be sandboxed: its descriptors are hidden, none of them is this
 * connection, or it has hung up. A sandboxed process can hide its connection that way, so callers refuse both.
 */
export type Peer = "unconfined" | "sandboxed" | "unidentified";

export async function identifyPeer(ends: ConnectionEnds): Promise<Peer> {
  if (process.platform !== "linux") return "unconfined";
  const { remoteAddress = "" } = ends;
  const isLocal = isOfThisMachine(remoteAddress);
  const socket = await findSocket(ends, isLocal ? maxReads : 1);
  if (socket === undefined) return isLocal ? "unidentified" : "unconfined";
  // The peer has closed it, and what it sent before is still to be read: the kernel lists it as root's, without an inode.
  if (socket.inode === "0") return "unidentified";
  const user = process.geteuid?.() ?? 0;
  // A sandbox has the user of the process that started it, and only root reads the descriptors of other users.
  if (user !== 0 && socket.user !== user) return "unconfined";
  const holder = await findHolder(socket.inode);
  if (holder === undefined) return "unidentified";
  const isOwnProxy = holder === String(process.pid) && isProxied(ends.remotePort);
  return isOwnProxy || isSandboxed(holder) ? "sandboxed" : "unconfined";
}

interface Socket {
  inode: string;
  user: number;
}

/** The kernel's table is read in pieces, and one that changes meanwhile can leave out an entry. */
const maxReads = 5;

/** The peer's socket, in the table of this network namespace. */
async function findSocket(ends: ConnectionEnds, reads: number): Promise<Socket | undefined> {
  const { localAddress = "", localPort, remoteAddress = "", remotePort } = ends;
  const local = endpoint(canonical(remoteAddress), remotePort);
  const remote = endpoint(canonical(localAddress), localPort);
  for (let read = 0; read < reads; read += 1) {
    const rows = ["/proc/self/net/tcp", "/proc/self/net/tcp6"].flatMap((table) => readLines(table).slice(1));
    const found = rows.map(parseRow).find((row) => row.local === local && row.remote === remote);
    if (found) return found;
    await nextTask();
  }
  return undefined;
}

const endpoint = (address: string, port: number | undefined) => `${address} ${port}`;

function parseRow(line: string): Socket & { local: string; remote: string } {
  const [, local = "", remote = "", , , , , user, , inode = ""] = line.trim().split(/\s+/);
  return { local: parseEndpoint(local), remote: parseEndpoint(remote), user: Number(user), inode };
}

/** The kernel prints the address in words of four bytes, in its own byte order: little-endian where we run. */
function parseEndpoint(text: string): string {
  const [words = "", port = ""] = text.split(":");
  const bytes = (words.match(/.{8}/g) ?? []).map((word) => Buffer.from(word, "hex").reverse());
  const address = bytes.length === 1 ? [...(bytes[0] ?? [])].join(".") : Buffer.concat(bytes).toString("hex");
  return endpoint(canonical(address.replace(/[0-9a-f]{4}(?=[0-9a-f])/g, "$&:")), Number.parseInt(port, 16));
}

/** One text per address; an IPv4 address is the same as its IPv6 form. */
function canonical(address: string): string {
  const [plain = ""] = address.split("%");
  const url = `http://[${isIPv4(plain) ? `::ffff:${plain}` : plain}]`;
  return URL.canParse(url) ? new URL(url).hostname : plain;
}

const isOfThisMachine = (address: string): boolean => {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  return plain === "" || plain === "::1" || plain.startsWith("127.") || isOwn(plain);
};

/** The first process found that has this socket open: a sandboxed one cannot give its socket to any outside. */
async function findHolder(inode: string): Promise<string | undefined> {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  for (const pid of processes.reverse()) {
    if (holdsSocket(pid, `socket:[${inode}]`)) return pid;
    // Many processes have many descriptors; other clients must not wait for all of them.
    await nextTask();
  }
  return undefined;
}

function holdsSocket(pid: string, link: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((descriptor) => readLink(`/proc/${pid}/fd/${descriptor}`) === link);
  } catch {
    // The process is gone, or hides its descriptors.
    return false;
  }
}

/** Every sandbox has a user namespace or a system-call filter of its own, and no process can leave either. */
const isSandboxed = (pid: string): boolean =>
  userNamespace(pid) === undefined || userNamespace(pid) !== userNamespace("self") || isFiltered(pid);

const userNamespace = (pid: string) => readLink(`/proc/${pid}/ns/user`);

function isFiltered(pid: string): boolean {
  const [theirs, own] = [countFilters(pid), countFilters("self")];
  return theirs > own || theirs === Number.POSITIVE_INFINITY;
}

/** Kernels before 5.9 do not count them: a filtered process there may have any number. */
function countFilters(pid: string): number {
  const status = readLines(`/proc/${pid}/status`);
  const read = (field: string) => status.find((line) => line.startsWith(`${field}:`))?.split(":")[1];
  const filters = read("Seccomp_filters");
  if (filters !== undefined) return Number(filters);
  return read("Seccomp")?.trim() === "0" ? 0 : Number.POSITIVE_INFINITY;
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, "utf8").trimEnd().split("\n");
  } catch {
    return [];
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
