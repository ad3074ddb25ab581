// Keeps the whole output of processes whose answer would be cut, in files beside other temporary ones: bounded, and removed
// when the workspace is closed.
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OutputFile as WireOutputFile } from "@agentcli/protocol";

export interface OutputFile {
  describe(): WireOutputFile;
  write(text: string): void;
}

export interface OutputFiles {
  /** Undefined if none can be written here. */
  create(): OutputFile | undefined;
  /** Removes all of them. */
  close(): void;
}

const maxFileBytes = 64 * 1024 * 1024;
const maxTotalBytes = 256 * 1024 * 1024;

interface OpenOutputFile extends OutputFile {
  remove(): void;
}

export function openOutputFiles(): OutputFiles {
  const files: OpenOutputFile[] = [];
  let directory: string | undefined;
  let count = 0;

  /** The oldest ones make room. */
  function limitTotal(): void {
    let total = files.reduce((sum, file) => sum + file.describe().bytes, 0);
    while (total + maxFileBytes > maxTotalBytes && files.length > 0) {
      const oldest = files.shift();
      total -= oldest?.describe().bytes ?? 0;
      oldest?.remove();
    }
  }

  return {
    create() {
      limitTotal();
      try {
        directory ??= mkdtempSync(join(tmpdir(), "agent-output-"));
        count += 1;
        const file = createOutputFile(join(directory, `${count}.txt`));
        files.push(file);
        return file;
      } catch {
        return undefined;
      }
    },
    close() {
      for (const file of files.splice(0)) file.remove();
      if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
      directory = undefined;
    },
  };
}

function createOutputFile(path: string): OpenOutputFile {
  let descriptor: number | undefined = openSync(path, "wx", 0o600);
  let bytes = 0;
  let isWhole = true;
  const stop = () => {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  };
  return {
    describe: () => ({ path, bytes, isWhole }),
    write(text) {
      if (descriptor === undefined) return;
      const content = Buffer.from(text);
      const before = bytes;
      bytes += writeAsFarAsPossible(descriptor, content.subarray(0, maxFileBytes - bytes));
      isWhole = bytes - before === content.length;
      if (!isWhole) stop();
    },
    remove() {
      stop();
      rmSync(path, { force: true });
    },
  };
}

/** The disk may be full. */
function writeAsFarAsPossible(descriptor: number, content: Buffer): number {
  try {
    return writeSync(descriptor, content);
  } catch {
    return 0;
  }
}
