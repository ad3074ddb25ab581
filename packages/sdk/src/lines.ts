// Standard output of a process, line by line, to its end or to that of the process.
import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";

/** The last line counts only when it is whole: half of one is what a process that was killed leaves. */
export async function* linesOf(child: ChildProcess & { stdout: Readable }): AsyncGenerator<string> {
  const release = releaseAfterExit(child);
  let begun: string[] = [];
  try {
    for await (const text of piecesOf(child.stdout)) {
      const [first = "", ...rest] = text.split("\n");
      begun.push(first);
      for (const next of rest) {
        yield* notBlank(begun.join(""));
        begun = [next];
      }
    }
  } finally {
    release();
  }
}

function* notBlank(line: string): Generator<string> {
  if (line.trim() !== "") yield line;
}

/** A stream that was destroyed has ended, as far as its lines are concerned. */
async function* piecesOf(stream: Readable): AsyncGenerator<string> {
  try {
    for await (const text of stream.setEncoding("utf8")) yield text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  }
}

const checkEveryMs = 200;

/**
 * What the process left running may hold its output open for ever. Once it has ended, output that stays empty twice in a
 * row is taken as over: once is not enough, the first look after a busy moment comes before the system was asked.
 */
function releaseAfterExit(child: ChildProcess & { stdout: Readable }): () => void {
  let timer: NodeJS.Timeout | undefined;
  const watch = () => {
    let emptyLooks = 0;
    timer = setInterval(() => {
      emptyLooks = child.stdout.readableLength === 0 ? emptyLooks + 1 : 0;
      if (emptyLooks === 2) child.stdout.destroy();
    }, checkEveryMs);
  };
  if (child.exitCode !== null || child.signalCode !== null) watch();
  else child.once("exit", watch);
  return () => {
    child.off("exit", watch);
    clearInterval(timer);
  };
}
