// The key of the proxy: read from standard input into locked memory of a process that its own user cannot read.
import { closeSync, readSync } from "node:fs";
import { url as inspectorUrl } from "node:inspector";
import { CommandError } from "@agentcli/command-line";
import { protectMemory } from "@agentcli/workspace/protected-memory";

export interface ProxyKey {
  /** Where its memory is kept out of swap; `none` outside Linux, where other processes of the user may read it too. */
  protection: "process" | "secret" | "none";
  bytes: Buffer;
  wipe(): void;
}

const maxBytes = 4096;

/** First protects the process, then reads: before that there is no secret in it. */
export function readKey(variables: Record<string, string | undefined>): ProxyKey {
  refuseInspection(variables);
  const memory = protect();
  const page = Buffer.allocUnsafeSlow(maxBytes).fill(0);
  memory?.lock(page);
  const bytes = trimmed(page.subarray(0, readInput(page)));
  if (bytes.length === 0)
    throw new CommandError("usage", "No key came in. Pipe it: printenv MY_KEY | agentcli responses-proxy …");
  if (bytes.some((byte) => byte < 0x21 || byte > 0x7e))
    throw new CommandError("usage", "That is not one API key: it must be one word of plain letters, digits and signs.");
  return { protection: memory?.locked ?? "none", bytes, wipe: () => void page.fill(0) };
}

/** A debugger sees all memory. Node opens one on SIGUSR1, which any process of the user can send, unless there is a listener. */
function refuseInspection({ NODE_OPTIONS }: Record<string, string | undefined>): void {
  process.on("SIGUSR1", () => {});
  if (inspectorUrl() !== undefined || process.execArgv.length > 0 || NODE_OPTIONS)
    throw new CommandError(
      "usage",
      "The proxy starts only without options of Node, which could show its memory. Unset NODE_OPTIONS, and start it without --inspect.",
    );
}

function protect(): ReturnType<typeof protectMemory> | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return protectMemory();
  } catch (error) {
    throw new CommandError(
      "sandbox",
      `The memory of the proxy, which holds the key, cannot be protected from other processes: ${(error as Error).message} Install @koromix/koffi-linux-${process.arch} beside agentcli. npm installs it unless optional dependencies are omitted (--omit=optional).`,
    );
  }
}

/** Straight into the given memory: a stream would leave copies. */
function readInput(page: Buffer): number {
  let length = 0;
  for (;;) {
    const read = readMore(page, length);
    if (read === 0) break;
    length += read;
    if (length === page.length) throw new CommandError("usage", `The key is longer than ${maxBytes - 1} bytes.`);
  }
  closeSync(0);
  return length;
}

function readMore(page: Buffer, offset: number): number {
  for (;;) {
    try {
      return readSync(0, page, offset, page.length - offset, null);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EOF") return 0;
      if (code !== "EAGAIN")
        throw new CommandError("usage", `Standard input cannot be read: ${code}. Pipe the key in.`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

function trimmed(bytes: Buffer): Buffer {
  const isSpace = (byte: number | undefined) => byte === 0x20 || (byte !== undefined && byte >= 9 && byte <= 13);
  let [start, end] = [0, bytes.length];
  while (start < end && isSpace(bytes[start])) start += 1;
  while (end > start && isSpace(bytes[end - 1])) end -= 1;
  return bytes.subarray(start, end);
}
