// Standard output of a process, line by line, until it or the process ends.
import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";

/** Yields complete lines only: a killed process may leave half of one. */
export async function* linesOf(child: ChildProcess & { stdout: Readable }): AsyncGenerator<string> {
  const release = releaseAfterExit(child);
  let partial: string[] = [];
  try {
    for await (const text of piecesOf(child.stdout)) {
      const [first = "", ...rest] = text.split("\n");
      partial.push(first);
      for (const next of rest) {
        yield* notBlank(partial.join(""));
        partial = [next];
      }
    }
  } finally {
    release();
  }
}

function* notBlank(line: string): Generator<string> {
  if (line.trim() !== "") yield line;
}

/** A destroyed stream counts as ended. */
async function* piecesOf(stream: Readable): AsyncGenerator<string> {
  try {
    for await (const text of stream.setEncoding("utf8")) yield text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  }
}

const pollIntervalMs = 200;

/**
 * A leftover child may keep the output open for ever. After the exit, output that is empty at two polls in a row counts
 * as ended. One poll is not enough: right after a busy moment, the stream has not read from the pipe yet.
 */
function releaseAfterExit(child: ChildProcess & { stdout: Readable }): () => void {
  let timer: NodeJS.Timeout | undefined;
  const watch = () => {
    let emptyPolls = 0;
    timer = setInterval(() => {
      emptyPolls = child.stdout.readableLength === 0 ? emptyPolls + 1 : 0;
      if (emptyPolls === 2) child.stdout.destroy();
    }, pollIntervalMs);
  };
  if (child.exitCode !== null || child.signalCode !== null) watch();
  else child.once("exit", watch);
  return () => {
    child.off("exit", watch);
    clearInterval(timer);
  };
}
