// The other end of a TCP connection of this network namespace: its socket in the kernel's table, and the process that holds it.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { isIPv4 } from "node:net";
import { setImmediate as nextTask } from "node:timers/promises";

/** As a server's socket reports them; undefined once it is closed. */
export interface ConnectionEnds {
  localAddress?: string;
  localPort?: number;
  remoteAddress?: string;
  remotePort?: number;
}

export interface PeerSocket {
  inode: string;
  user: number;
}

/** The kernel's table is read in pieces, and one that changes meanwhile can leave out an entry. */
export const maxReads = 5;

/** The peer's socket, in the table of this network namespace. */
export async function findSocket(ends: ConnectionEnds, reads: number): Promise<PeerSocket | undefined> {
  const { localAddress = "", localPort, remoteAddress = "", remotePort } = ends;
  const local = endpoint(canonical(remoteAddress), remotePort);
  const remote = endpoint(canonical(localAddress), localPort);
  for (let read = 0; read < reads; read += 1) {
    const rows = readRows(["/proc/self/net/tcp", "/proc/self/net/tcp6"], remotePort, localPort);
    const found = rows.find((row) => row.local === local && row.remote === remote);
    if (found) return found;
    await nextTask();
  }
  return undefined;
}

/** A socket for datagrams with this port, in the table of this network namespace. */
export function findDatagramSocket(port: number): PeerSocket | undefined {
  return readRows(["/proc/self/net/udp", "/proc/self/net/udp6"], port)[0];
}

/** Rows with other ports are not read further: programs can have tens of thousands of sockets, and each costs 30 µs or more. */
function readRows(tables: string[], localPort: number | undefined, remotePort?: number) {
  const [local, remote] = [localPort, remotePort].map(portPattern);
  const wanted = new RegExp(`^ *\\d+: [0-9A-F]+:${local} [0-9A-F]+:${remote} `);
  return tables.flatMap((table) =>
    readLines(table)
      .filter((line) => wanted.test(line))
      .map(parseRow),
  );
}

const portPattern = (port: number | undefined): string =>
  port === undefined ? "[0-9A-F]{4}" : port.toString(16).toUpperCase().padStart(4, "0");

const endpoint = (address: string, port: number | undefined) => `${address} ${port}`;

function parseRow(line: string): PeerSocket & { local: string; remote: string } {
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

/** The first process found that has this socket open: a sandboxed one cannot give its socket to any outside. */
export async function findHolder(inode: string): Promise<string | undefined> {
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

export function readLines(path: string): string[] {
  try {
    return readFileSync(path, "utf8").trimEnd().split("\n");
  } catch {
    return [];
  }
}

export function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
