// Writes a text to the file that a person names. It may be a terminal, such as /dev/tty, which must obey nothing of the
// text. In the workspace an agent may put a link to any other file in its place, or a pipe that nothing reads, at any time.
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readlinkSync, statSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isatty } from "node:tty";
import { foreignTextFor } from "./terminal-text.ts";

export interface OutputFile {
  /** Absolute. */
  path: string;
  mode?: number;
  programs: OutputPaths;
  /** How long a pipe may take nothing. */
  idlePipeMs?: number;
}

/** As HostPrograms of a workspace have it. */
export interface OutputPaths {
  outputPath(path: string): { kind: "agents"; realPath: string } | { kind: "link"; link: string } | { kind: "user" };
}

const usualIdlePipeMs = 30_000;

export function writeOutputFile({ idlePipeMs = usualIdlePipeMs, ...output }: OutputFile, text: string): void {
  const file = openOutputFile(output);
  try {
    const isTerminal = isatty(file);
    const bytes = Buffer.from(foreignTextFor({ isTTY: isTerminal }, text));
    writeAll(file, bytes, { path: output.path, idleMs: isTerminal ? Number.POSITIVE_INFINITY : idlePipeMs });
  } finally {
    closeSync(file);
  }
}

/** What was in the file before is gone; of a pipe or a device nothing is. */
export function emptyOutputFile(output: Omit<OutputFile, "idlePipeMs">): void {
  closeSync(openOutputFile(output));
}

/** Empty, and without waiting. Emptied only once it is known to be that file. */
function openOutputFile({ path, mode = 0o666, programs }: Omit<OutputFile, "idlePipeMs">): number {
  const realPath = refuseLinkOfAgent(path, programs);
  const file = openNamed(path, () => (realPath === null ? openNow(path, mode) : openWithoutLinks(realPath, mode)));
  try {
    const stats = fstatSync(file);
    if (stats.isBlockDevice()) throw new Error(`${path} is a disk. Name a file`);
    if (stats.isFile()) ftruncateSync(file);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** The real path if it is in a directory of agents, else null. Throws for one that an agent may lead elsewhere. */
export function refuseLinkOfAgent(path: string, programs: OutputPaths): string | null {
  const found = programs.outputPath(path);
  if (found.kind !== "link") return found.kind === "agents" ? found.realPath : null;
  throw new Error(
    `${found.link} is a link in the workspace, and an agent may have made it. Remove it, or name the file it leads to`,
  );
}

/** An agent may exchange a directory for a link between two looks: the one that is open is checked, and stays the same. */
function openWithoutLinks(realPath: string, mode: number): number {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const parent = dirname(realPath);
  const directory = openSync(parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    const held = `/proc/self/fd/${directory}`;
    if (process.platform !== "linux") return openNow(realPath, mode, O_NOFOLLOW);
    if (readlinkSync(held) !== parent)
      throw new Error(`${parent} is a link now, and an agent may have made it. Remove it`);
    return openNow(join(held, basename(realPath)), mode, O_NOFOLLOW);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "ELOOP"
      ? new Error(`${realPath} is a link in the workspace, and an agent may have made it. Remove it`)
      : error;
  } finally {
    closeSync(directory);
  }
}

/** To open a pipe without this flag waits for its reader. */
const openNow = (path: string, mode: number, flags = 0): number =>
  openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_NOCTTY | constants.O_NONBLOCK | flags, mode);

function openNamed(path: string, open: () => number): number {
  try {
    return open();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENXIO") throw error;
    const isPipe = statSync(path, { throwIfNoEntry: false })?.isFIFO();
    throw new Error(
      isPipe
        ? `${path} is a pipe that no program reads. Remove it, or start its reader first`
        : `${path} is a socket or a device that takes nothing. Name a file`,
    );
  }
}

/** A pipe may have a reader that does not read, which an agent has left: that must not keep a run from ending. */
function writeAll(file: number, bytes: Buffer, { path, idleMs }: { path: string; idleMs: number }): void {
  let lastMs = Date.now();
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(file, bytes, at);
      lastMs = Date.now();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      if (Date.now() - lastMs > idleMs) throw new Error(`${path} took nothing for ${idleMs / 1000} s`);
      sleep(10);
    }
  }
}

const sleep = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
