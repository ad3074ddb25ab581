// Whether the other end of a TCP connection is a sandboxed process of this machine. Linux only.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { isIPv6 } from "node:net";
import { isOwn, isProxied } from "../egress/index.ts";
import { type ConnectionEnds, findHolder, findSocket, maxReads, readLines, readLink } from "../sockets/index.ts";

export type { ConnectionEnds };

/**
 * "unidentified" is a local process that may be sandboxed: its descriptors are hidden, none of them is this
 * connection, or it has hung up. A sandboxed process can hide its connection that way, so callers refuse both.
 */
export type Peer = "unconfined" | "sandboxed" | "unidentified";

export async function identifyPeer(ends: ConnectionEnds): Promise<Peer> {
  if (process.platform !== "linux") return "unconfined";
  const { remoteAddress = "", localAddress = "" } = ends;
  const isLocal = isOfThisMachine(remoteAddress) || isLoopback(localAddress) || (await isAssigned(remoteAddress));
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

const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "");

const isLoopback = (address: string): boolean =>
  plainAddress(address) === "::1" || plainAddress(address).startsWith("127.");

const isOfThisMachine = (address: string): boolean =>
  address === "" || isLoopback(address) || isOwn(plainAddress(address));

const documentationAddress = "192.0.2.1";

/** Node does not list interfaces without a carrier, nor routes that make addresses local: the kernel knows whether it has one. */
const isAssigned = async (address: string): Promise<boolean> =>
  // Some machines may bind to all addresses.
  (await canBind(plainAddress(address))) && !(await canBind(documentationAddress));

async function canBind(address: string): Promise<boolean> {
  const socket = createSocket(isIPv6(address) ? "udp6" : "udp4");
  try {
    socket.bind({ address, port: 0, exclusive: true });
    await once(socket, "listening");
    return true;
  } catch {
    return false;
  } finally {
    socket.close();
  }
}

/** Every sandbox has a user namespace or a system-call filter of its own, and no process can leave either. */
const isSandboxed = (pid: string): boolean =>
  userNamespace(pid) === undefined || userNamespace(pid) !== userNamespace("self") || isFiltered(pid);

const userNamespace = (pid: string) => readLink(`/proc/${pid}/ns/user`);

export function isFiltered(pid: string): boolean {
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
