// Runs a program that writes a root directory as a tar archive, and imports it.
import { PassThrough, type Readable, Transform } from "node:stream";
import { type MachineProvider, MachineUnavailable, runProgram } from "../machines/index.ts";
import { ImageFault } from "./image-fault.ts";

export interface ImageCommand {
  /** Writes the archive to standard output, and what it does to standard error. */
  argv: string[];
  /** For people: what the command does. */
  purpose: string;
  /** On its standard input. */
  input?: string;
  /** Of the archive; null or absent: no limit. */
  maxBytes?: number | null;
}

export interface ImageLog {
  log(text: string): void;
  signal: AbortSignal;
}

/** Returns the digest of the layer. A command that is aborted is killed with all it started. */
export async function importOutput(
  provider: MachineProvider,
  { argv, purpose, input = "", maxBytes = null }: ImageCommand,
  { log, signal }: ImageLog,
): Promise<string> {
  const archive = maxBytes === null ? new PassThrough() : limitedTo(maxBytes);
  const imported = importArchive(provider, archive, `The output of ${purpose}`);
  const made = runProgram(argv, {
    attach(child) {
      const kill = () => void child.kill("SIGKILL");
      signal.addEventListener("abort", kill);
      archive.once("error", kill);
      if (signal.aborted) kill();
      child.once("close", () => signal.removeEventListener("abort", kill));
      // A command that ends without reading it says itself why.
      child.stdin?.on("error", () => {});
      child.stdin?.end(input);
      child.stdout?.pipe(archive);
      child.stderr?.on("data", (data: Buffer) => log(data.toString("utf8")));
    },
  });
  const [ending, importing] = await Promise.allSettled([made, imported]);
  signal.throwIfAborted();
  if (archive.errored instanceof ImageFault) throw archive.errored;
  if (ending.status === "rejected")
    throw new ImageFault(`${purpose} failed (${reasonOf(ending.reason)}); its output says why.`);
  if (importing.status === "rejected") throw importing.reason;
  return importing.value;
}

/** Returns the digest of the layer. */
export async function importArchive(provider: MachineProvider, archive: Readable, source: string): Promise<string> {
  try {
    return await provider.importBase(archive);
  } catch (error) {
    if (error instanceof MachineUnavailable) throw error;
    const reason = (error as Error).message.replace(/^[^:]* failed \([^()]*\): /, "").trim();
    throw new ImageFault(`${source} cannot be unpacked as a root directory: ${reason}`);
  }
}

/** Ends with an ImageFault beyond the limit. */
function limitedTo(maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= maxBytes) return done(null, chunk);
      return done(new ImageFault(`The image has more than ${maxBytes} bytes (limits.disk). Make it smaller.`));
    },
  });
}

/** The rest is in the log already. */
const reasonOf = ({ message }: Error) => /\(([^()]*)\): /.exec(message)?.[1] ?? message;
