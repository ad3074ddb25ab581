// Writes a text to the file that a person names. It may be a terminal, such as /dev/tty, which must obey nothing of the text;
// and in the workspace an agent may have put a link to any other file in its place.
import { closeSync, constants, fstatSync, ftruncateSync, openSync, statSync, writeFileSync } from "node:fs";
import { isatty } from "node:tty";
import { foreignTextFor } from "@agentcli/command-line";
import type { HostPrograms } from "@agentcli/workspace";

export interface OutputFile {
  /** Absolute. */
  path: string;
  mode?: number;
  programs: Pick<HostPrograms, "linkOfAgent">;
}

export function writeOutputFile({ path, mode = 0o666, programs }: OutputFile, text: string): void {
  refuseLinkOfAgent(path, programs);
  const pipe = openPipe(path);
  // Emptied only once it is known to be that file.
  const file = openSync(path, constants.O_WRONLY | constants.O_CREAT, mode);
  try {
    if (pipe !== null) closeSync(pipe);
    refuseLinkOfAgent(path, programs);
    if (fstatSync(file).isFile()) ftruncateSync(file);
    writeFileSync(file, foreignTextFor({ isTTY: isatty(file) }, text));
  } finally {
    closeSync(file);
  }
}

/** To open a pipe waits for its reader, and an agent may have made it: the run would not end. Held until the pipe is open. */
function openPipe(path: string): number | null {
  if (!statSync(path, { throwIfNoEntry: false })?.isFIFO()) return null;
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENXIO") throw error;
    throw new Error(`${path} is a pipe that no program reads. Remove it, or start its reader first`);
  }
}

/** Throws for a path that an agent may lead elsewhere. */
export function refuseLinkOfAgent(path: string, programs: OutputFile["programs"]): void {
  const link = programs.linkOfAgent(path);
  if (link !== undefined)
    throw new Error(
      `${link} is a link in the workspace, and an agent may have made it. Remove it, or name the file it leads to`,
    );
}
