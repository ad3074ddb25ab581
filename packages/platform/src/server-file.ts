// `server.json` in the data directory: where the server is, for commands that need to know.
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Announcement {
  url: string;
  pid: number;
}

/** If several servers share the directory, the last one to start is found. */
export function announceServer(dataDirectory: string, url: string): void {
  const draft = `${pathIn(dataDirectory)}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify({ url, pid: process.pid })}\n`);
  renameSync(draft, pathIn(dataDirectory));
}

export function withdrawServer(dataDirectory: string): void {
  if (read(dataDirectory)?.pid === process.pid) rmSync(pathIn(dataDirectory), { force: true });
}

/** Null if none is running; a killed server leaves its file behind. */
export function findServer(dataDirectory: string): Announcement | null {
  const announced = read(dataDirectory);
  return announced && isAlive(announced.pid) ? announced : null;
}

const pathIn = (dataDirectory: string): string => join(dataDirectory, "server.json");

function read(dataDirectory: string): Announcement | null {
  try {
    return JSON.parse(readFileSync(pathIn(dataDirectory), "utf8"));
  } catch {
    return null; // Missing or not ours: no server has announced itself.
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
