// Writes a run to a file while it happens.
import { closeSync, constants, fstatSync, openSync, realpathSync, writeSync } from "node:fs";
import type { Scrub } from "@agentcli/engine";
import { HostError } from "../host-error.ts";
import type { FileStore } from "../sessions/index.ts";
import { readCassette } from "./cassette.ts";
import type { CassetteHeader } from "./format.ts";
import { type Recording, recordRun } from "./recorder.ts";

export type FileRecording = Recording<FileStore>;

export interface RecordingOptions {
  path: string;
  header: CassetteHeader;
  /** Removes secrets before anything is written. */
  scrub: Scrub;
  warn(message: string): void;
}

/** Throws if the file cannot be created, or holds something that is not a recording. */
export function openRecording({ path, header, scrub, warn }: RecordingOptions): FileRecording {
  let file: RecordingFile | null = null;
  let isBroken = false;
  const write = (line: string): void => {
    if (file === null) {
      file = createFile(path, line);
      return;
    }
    if (isBroken) return;
    try {
      file.append(line);
    } catch (error) {
      isBroken = true;
      warn(`The recording ${path} is incomplete: ${(error as Error).message}.`);
    }
  };
  return recordRun({
    ...{ header, scrub, write },
    readPast: async (threadId, last, store) => store.readNow(threadId).filter(({ seq }) => seq <= last),
  });
}

interface RecordingFile {
  append(text: string): void;
}

function createFile(path: string, header: string): RecordingFile {
  try {
    return openFile(...created(path), header);
  } catch (error) {
    if (error instanceof HostError) throw error;
    throw new HostError("usage", `The recording cannot be written to ${path}: ${(error as Error).message}.`);
  }
}

/** Neither creates nor follows what a link names, unless that is a recording already. */
function created(path: string): [target: string, descriptor: number] {
  try {
    return [path, openSync(path, "wx", 0o600)];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  checkReplaceable(path);
  const target = realpathSync(path);
  return [target, openSync(target, constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW)];
}

/** An agent can replace a file in its workspace by a link to any other: only the file that was created is written. */
function openFile(path: string, descriptor: number, header: string): RecordingFile {
  const { dev, ino } = fstatSync(descriptor);
  const write = (opened: number, text: string) => {
    try {
      const now = fstatSync(opened);
      if (now.dev !== dev || now.ino !== ino) throw new Error("it was replaced by another file");
      writeWhole(opened, Buffer.from(text));
    } finally {
      closeSync(opened);
    }
  };
  write(descriptor, header);
  return {
    append: (text) => write(openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW), text),
  };
}

function writeWhole(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}

/** Another recording may be replaced; anything else was not meant. */
function checkReplaceable(path: string): void {
  try {
    readCassette(path);
  } catch {
    throw new HostError("usage", `${path} exists and is not a complete recording. Remove it, or choose another file.`);
  }
}
