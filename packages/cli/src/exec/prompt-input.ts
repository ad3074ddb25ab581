// The prompt: the argument, standard input, or both.
import { fstatSync, readFileSync, statSync } from "node:fs";
import { isatty } from "node:tty";
import { CommandError } from "@agentcli/command-line";
import type { CleanPrompt } from "./clean-prompt.ts";

export interface PromptInput {
  argument: string | null;
  /** How long to wait for the first byte where the argument would do alone; null waits for ever. */
  stdinLimitMs: number | null;
  log(line: string): void;
  /** Removes what is not to reach the model. */
  clean: CleanPrompt;
  /** Ends the wait for standard input. */
  signal: AbortSignal;
  /** Called when the wait for standard input is abandoned. */
  warn(message: string): void;
}

const maxCharacters = 1_048_576;

/** The argument with what is piped in beside it, or standard input alone. */
export const readPrompt = async (input: PromptInput): Promise<string> =>
  (await readPipedPrompt(input)) ?? addPipedContext(input.argument ?? "", input);

/** `exec` without an argument: standard input is the prompt. Needs no configuration, so that a missing one is reported first. */
export async function readPipedPrompt({ argument, log, warn, clean, signal }: Omit<PromptInput, "stdinLimitMs">) {
  if (argument?.trim() === "") throw emptyPrompt();
  if (argument !== null && argument !== "-") return null;
  if (argument === null && isTerminal()) throw noPrompt();
  if (argument === null) log("Reading prompt from stdin...");
  return required(clean(decode(await readAll({ limitMs: null, warn, signal }))));
}

/** `exec` with an argument: piped data beside it is context for it. */
export async function addPipedContext(
  argument: string,
  { stdinLimitMs, warn, clean, signal }: Pick<PromptInput, "stdinLimitMs" | "warn" | "clean" | "signal">,
): Promise<string> {
  const prompt = clean(argument);
  if (prompt.trim() === "") throw emptyPrompt();
  const piped = isTerminal() ? "" : clean(decode(await readAll({ limitMs: stdinLimitMs, warn, signal })));
  return bounded(piped.trim() === "" ? prompt : withContext(prompt, piped));
}

/** `resume`: standard input only with `-` or without a prompt; null without a prompt. */
export async function readFollowUp(input: Omit<PromptInput, "log">): Promise<string | null> {
  const { argument, stdinLimitMs: limitMs, warn, clean, signal } = input;
  if (argument === "-") return required(clean(decode(await readAll({ limitMs: null, warn, signal }))));
  if (argument !== null) return bounded(clean(argument));
  if (isTerminal()) return null;
  const piped = clean(decode(await readAll({ limitMs, warn, signal })));
  return piped.trim() === "" ? null : bounded(piped);
}

const withContext = (prompt: string, piped: string): string =>
  `${prompt}\n\n<stdin>\n${piped}${piped.endsWith("\n") ? "" : "\n"}</stdin>`;

const emptyPrompt = (): CommandError =>
  new CommandError("usage", 'The prompt is empty. Say what to do: agentcli exec "…"');

function required(text: string): string {
  if (text.trim() !== "") return bounded(text);
  throw new CommandError("usage", "No prompt came from standard input. Pipe one in or give it as an argument.");
}

function bounded(text: string): string {
  if (text.length <= maxCharacters) return text;
  throw tooLong(`has ${text.length} characters`);
}

const tooLong = (size: string): CommandError =>
  new CommandError(
    "usage",
    `The prompt ${size}; the limit is ${maxCharacters} characters. Put the data in a file and name it in the prompt.`,
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
  throw new CommandError(
    "usage",
    "Standard input is not text (UTF-8 or UTF-16). Put binary data in a file and name it in the prompt.",
  );
}

interface WaitOptions extends Pick<PromptInput, "warn" | "signal"> {
  limitMs: number | null;
}

/** A pipe that never ends must not take all memory; far more than any prompt. */
const maxBytes = 64 * 1024 * 1024;

async function readAll({ limitMs, warn, signal }: WaitOptions): Promise<Buffer> {
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
      if (size > maxBytes) refuse(tooLong(`has more than ${maxBytes} bytes`));
    });
    stdin.once("end", () => {
      clearTimeout(timer);
      finish();
    });
    stdin.once("error", reject);
    signal.addEventListener("abort", () => refuse(interrupted()), { once: true });
    if (signal.aborted) refuse(interrupted());
    function refuse(problem: CommandError) {
      clearTimeout(timer);
      stdin.destroy();
      reject(problem);
    }
    function giveUp() {
      stdin.destroy();
      warn(`No data on standard input within ${limitMs} ms; continuing without it.`);
      finish();
    }
  });
}

const interrupted = (): CommandError => new CommandError("failed", "Interrupted while waiting for standard input.");

function stdinKind(): "none" | "file" | "stream" {
  try {
    const stat = fstatSync(0);
    return stat.isFile() || (stat.isCharacterDevice() && !isTerminal()) ? "file" : "stream";
  } catch {
    return "none";
  }
}

/** Standard input is a terminal, closed or an empty device: nothing will come from there. */
export const hasNoInput = (): boolean => isTerminal() || stdinKind() === "none" || isEmptyDevice();

function isEmptyDevice(): boolean {
  const { rdev } = fstatSync(0);
  return rdev === statSync("/dev/null").rdev;
}

/** Asked of the system: making process.stdin only to ask it costs 4 ms. */
const isTerminal = (): boolean => isatty(0);

const noPrompt = (): CommandError =>
  new CommandError(
    "usage",
    'There is no prompt. Give one as an argument (agentcli exec "…") or pipe it in (… | agentcli exec -).',
  );
