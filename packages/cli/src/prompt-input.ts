// The prompt: the argument, standard input, or both.
import { fstatSync, readFileSync } from "node:fs";
import { isatty } from "node:tty";
import { Problem } from "./problem.ts";

export interface PromptInput {
  argument: string | null;
  /** How long to wait for the first byte where the argument would do alone; null waits for ever. */
  stdinLimitMs: number | null;
  say(line: string): void;
  /** Ends the wait for standard input. */
  signal: AbortSignal;
  /** Told when the wait for standard input was given up. */
  warn(message: string): void;
}

const mostCharacters = 1_048_576;

/** `exec`: piped data beside an argument is context for it. */
export async function readPrompt({ argument, stdinLimitMs, say, warn, signal }: PromptInput): Promise<string> {
  const patient = { limitMs: null, warn, signal };
  if (argument === "-") return required(await readAll(patient), "No prompt came from standard input.");
  if (argument === null) {
    if (isTerminal()) throw noPrompt();
    say("Reading prompt from stdin...");
    return required(await readAll(patient), "No prompt came from standard input.");
  }
  if (argument.trim() === "") throw new Problem("usage", 'The prompt is empty. Say what to do: agentcli exec "…"');
  const piped = isTerminal() ? "" : decode(await readAll({ ...patient, limitMs: stdinLimitMs }));
  return bounded(piped.trim() === "" ? argument : withContext(argument, piped));
}

/** `resume`: standard input only with `-` or without a prompt; null is no prompt. */
export async function readFollowUp(input: Omit<PromptInput, "say">): Promise<string | null> {
  const { argument, stdinLimitMs: limitMs, warn, signal } = input;
  if (argument === "-")
    return required(await readAll({ limitMs: null, warn, signal }), "No prompt came from standard input.");
  if (argument !== null) return bounded(argument);
  if (isTerminal()) return null;
  const piped = decode(await readAll({ limitMs, warn, signal }));
  return piped.trim() === "" ? null : bounded(piped);
}

const withContext = (prompt: string, piped: string): string =>
  `${prompt}\n\n<stdin>\n${piped}${piped.endsWith("\n") ? "" : "\n"}</stdin>`;

function required(bytes: Buffer, message: string): string {
  const text = decode(bytes);
  if (text.trim() === "") throw new Problem("usage", `${message} Pipe one in or give it as an argument.`);
  return bounded(text);
}

function bounded(text: string): string {
  if (text.length <= mostCharacters) return text;
  throw tooLong(`has ${text.length} characters`);
}

const tooLong = (size: string): Problem =>
  new Problem(
    "usage",
    `The prompt ${size}; the most is ${mostCharacters} characters. Put the data in a file and name it in the prompt.`,
  );

/** UTF-8 with or without its mark, UTF-16 with one; anything else is not text. */
export function decode(bytes: Buffer): string {
  try {
    if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le", { fatal: true }).decode(bytes);
    if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be", { fatal: true }).decode(bytes);
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // Falls through to the one message for all that is not text.
  }
  throw new Problem(
    "usage",
    "Standard input is not text (UTF-8 or UTF-16). Put binary data in a file and name it in the prompt.",
  );
}

interface Waiting extends Pick<PromptInput, "warn" | "signal"> {
  limitMs: number | null;
}

/** A pipe that never ends must not take all memory; far more than any prompt. */
const mostBytes = 64 * 1024 * 1024;

async function readAll({ limitMs, warn, signal }: Waiting): Promise<Buffer> {
  const kind = stdinKind();
  if (kind === "none") return Buffer.alloc(0);
  if (kind === "file") return readFileSync(0);
  const pieces: Buffer[] = [];
  let size = 0;
  const stdin = process.stdin;
  return new Promise((resolve, reject) => {
    const finish = () => resolve(Buffer.concat(pieces));
    const timer = limitMs === null ? undefined : setTimeout(giveUp, limitMs);
    stdin.on("data", (piece: Buffer) => {
      clearTimeout(timer);
      pieces.push(piece);
      size += piece.length;
      if (size > mostBytes) refuse(tooLong(`has more than ${mostBytes} bytes`));
    });
    stdin.once("end", () => {
      clearTimeout(timer);
      finish();
    });
    stdin.once("error", reject);
    signal.addEventListener("abort", () => refuse(interrupted()), { once: true });
    if (signal.aborted) refuse(interrupted());
    function refuse(problem: Problem) {
      clearTimeout(timer);
      stdin.destroy();
      reject(problem);
    }
    function giveUp() {
      stdin.destroy();
      warn(`No data on standard input within ${limitMs} ms; going on without it.`);
      finish();
    }
  });
}

const interrupted = (): Problem => new Problem("failed", "Interrupted while waiting for standard input.");

function stdinKind(): "none" | "file" | "stream" {
  try {
    const stat = fstatSync(0);
    return stat.isFile() || (stat.isCharacterDevice() && !isTerminal()) ? "file" : "stream";
  } catch {
    return "none";
  }
}

/** Asked of the system: making process.stdin only to ask it costs 4 ms. */
const isTerminal = (): boolean => isatty(0);

const noPrompt = (): Problem =>
  new Problem(
    "usage",
    'There is no prompt. Give one as an argument (agentcli exec "…") or pipe it in (… | agentcli exec -).',
  );
