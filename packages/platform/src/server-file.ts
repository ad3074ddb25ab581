// `server.json` in the data directory: the servers that run on it, for commands that need to know.
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "@agentcli/command-line";
import type { PlatformRole } from "@agentcli/protocol";

export interface Announcement {
  url: string;
  pid: number;
  roles: PlatformRole[];
}

/** Beside the others; those that were killed are removed. */
export function announceServer(dataDirectory: string, { url, roles }: Omit<Announcement, "pid">): void {
  const own = { url, pid: process.pid, roles };
  change(dataDirectory, (servers) => [...servers.filter((server) => !isSame(server, own)), own]);
}

/** The file is removed with the last one. */
export function withdrawServer(dataDirectory: string, url: string): void {
  change(dataDirectory, (servers) => servers.filter((server) => !isSame(server, { url, pid: process.pid })));
}

/** In the order of their start. */
export const listServers = (dataDirectory: string): Announcement[] =>
  read(dataDirectory).filter(({ pid }) => isAlive(pid));

/** The last one to start of those that serve the API; null if none is running. */
export const findServer = (dataDirectory: string): Announcement | null =>
  listServers(dataDirectory).findLast(({ roles }) => roles.includes("api")) ?? null;

type Identity = Pick<Announcement, "url" | "pid">;

const isSame = (left: Identity, right: Identity): boolean => left.pid === right.pid && left.url === right.url;

const pathIn = (dataDirectory: string): string => join(dataDirectory, "server.json");

/** One process after another: two that read the same list would lose one of their changes. */
function change(dataDirectory: string, edit: (running: Announcement[]) => Announcement[]): void {
  const path = pathIn(dataDirectory);
  const unlock = lock(`${path}.lock`);
  try {
    const servers = edit(listServers(dataDirectory));
    if (servers.length === 0) rmSync(path, { force: true });
    else write(path, servers);
  } finally {
    unlock();
  }
}

function write(path: string, servers: Announcement[]): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify({ servers })}\n`);
  renameSync(draft, path);
}

const maxWaitMs = 2_000;
const retryMs = 5;

/** The file of a process that was killed is ignored after more time than a change can take. */
function lock(path: string): () => void {
  for (let waitedMs = 0; ; waitedMs += retryMs) {
    try {
      writeFileSync(path, "", { flag: "wx" });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (waitedMs >= maxWaitMs) rmSync(path, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
  }
}

function read(dataDirectory: string): Announcement[] {
  const text = readText(pathIn(dataDirectory));
  try {
    const { servers } = JSON.parse(text);
    return Array.isArray(servers) ? servers : [];
  } catch {
    return []; // Empty after a power failure, or not ours: the next server to start replaces it.
  }
}

/** Empty if no server has announced itself. */
function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return "";
    const isOfOthers = code === "EACCES" || code === "EPERM";
    const advice = isOfOthers ? "Use the user that the server runs as" : "Repair or remove it, and try again";
    const message = `Cannot read ${path}, which lists the running servers: ${code}. ${advice}.`;
    throw new CommandError("failed", message, { cause: error });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
