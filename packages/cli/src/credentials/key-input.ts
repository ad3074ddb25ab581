// An API key from a terminal or a pipe, never from the command line.
import { CommandError } from "@agentcli/command-line";

/** From a pipe: `printenv KEY | agentcli login --with-api-key`. */
export async function readPipedKey(signal: AbortSignal): Promise<string> {
  if (process.stdin.isTTY) {
    throw new CommandError(
      "usage",
      "--with-api-key reads the key from a pipe: printenv MY_KEY | agentcli login --with-api-key. To type it, leave the flag out.",
    );
  }
  signal.addEventListener("abort", () => process.stdin.destroy(cancelled()), { once: true });
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of process.stdin) {
    pieces.push(piece);
    size += piece.length;
    if (size > maxBytes) throw notAKey();
  }
  return checkedKey(Buffer.concat(pieces).toString("utf8"));
}

/** From a terminal, without showing it. */
export async function askForKey(ask: (text: string) => void, signal: AbortSignal): Promise<string> {
  if (!process.stdin.isTTY) {
    throw new CommandError(
      "usage",
      "Standard input is not a terminal. Pipe the key in: printenv MY_KEY | agentcli login --with-api-key",
    );
  }
  // Before the question: a quick answer would be shown by the terminal itself.
  process.stdin.setRawMode(true);
  ask("API key (not shown): ");
  try {
    return checkedKey(await readLine(signal));
  } finally {
    process.stdin.setRawMode(false);
    process.stdin.pause();
    ask("\n");
  }
}

const maxBytes = 64 * 1024;

/** In raw mode the keys that end, stop or erase come as letters. */
function readLine(signal: AbortSignal): Promise<string> {
  let line = "";
  return new Promise((resolve, reject) => {
    const stop = () => finish(() => reject(cancelled()));
    const finish = (settle: () => void) => {
      process.stdin.off("data", take);
      signal.removeEventListener("abort", stop);
      settle();
    };
    const take = (piece: Buffer) => {
      for (const letter of piece.toString("utf8")) {
        if (letter === "\r" || letter === "\n") return finish(() => resolve(line));
        if (letter === "\u0003" || letter === "\u0004") return stop();
        line = letter === "\u007f" || letter === "\b" ? line.slice(0, -1) : line + letter;
      }
    };
    process.stdin.on("data", take);
    signal.addEventListener("abort", stop);
  });
}

const cancelled = (): CommandError => new CommandError("usage", "Login was cancelled; nothing was saved.");

/** One word, as a header can carry it. */
export function checkedKey(text: string): string {
  const key = text.trim();
  if (key === "") throw new CommandError("usage", "No key was given; nothing was saved.");
  if (!/^[\x21-\x7e]+$/.test(key)) throw notAKey();
  return key;
}

const notAKey = (): CommandError =>
  new CommandError("usage", "That is not one API key: it must be one word of plain letters, digits and signs.");
