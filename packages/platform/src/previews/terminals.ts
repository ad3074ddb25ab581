// The terminals of a machine for people: read, and typed into, through the tmux session that the agent uses too.
import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { TerminalScreen } from "@agentcli/protocol/api";
import { terminalSession } from "../environments/index.ts";
import { ApiError } from "../foundation/index.ts";
import type { MachineInUse } from "../runs/index.ts";

export interface TerminalEntry {
  name: string;
  isRunning: boolean;
}

const timeoutMs = 10_000;
const shownLines = 2_000;
/** The program that answers is the machine's, and may write without end. */
const maxCharacters = 1024 * 1024;

export async function listTerminals(machine: MachineInUse): Promise<TerminalEntry[]> {
  const { out, exitCode } = await tmux(machine, [
    "list-windows",
    "-t",
    terminalSession,
    "-F",
    "#{pane_dead} #{window_name}",
  ]);
  if (exitCode !== 0) return [];
  return lines(out).map((line) => ({ name: line.slice(2), isRunning: line.startsWith("0") }));
}

export async function readTerminal(machine: MachineInUse, name: string): Promise<string> {
  const target = await targetOf(machine, name);
  return (await tmux(machine, ["capture-pane", "-p", "-t", target, "-S", `-${shownLines}`])).out.trimEnd();
}

export interface ScreenRequest {
  name: string;
  /** The revision that the reader has. */
  after: string | undefined;
}

/** Short enough that a reader who has lost access is refused within seconds. */
const maxWaitMs = 5_000;
const lookMs = 200;

/** Returns once it shows something else than the reader has, or after a while. */
export async function waitForScreen(
  machine: MachineInUse,
  { name, after }: ScreenRequest,
  signal: AbortSignal,
): Promise<TerminalScreen> {
  const target = await targetOf(machine, name);
  for (let waitedMs = 0; ; waitedMs += lookMs) {
    const screen = await readScreen(machine, target);
    if (screen.revision !== after || waitedMs >= maxWaitMs || signal.aborted) return screen;
    await sleep(lookMs, undefined, { signal: AbortSignal.any([signal, machine.ended]) }).catch(() => undefined);
  }
}

const linesBefore = 200;
const facts = "#{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{pane_dead}";

async function readScreen(machine: MachineInUse, target: string): Promise<TerminalScreen> {
  const show = ["display-message", "-p", "-t", target, facts];
  const capture = ["capture-pane", "-p", "-e", "-t", target, "-S", `-${linesBefore}`];
  const { out } = await tmux(machine, [...show, ";", ...capture]);
  const end = out.indexOf("\n");
  const [height = 0, column = 0, row = 0, isShown = 0, isDead = 0] = out.slice(0, end).split(" ").map(Number);
  const shown = out.slice(end + 1).replace(/\n$/, "");
  const line = Math.max(0, shown.split("\n").length - height + row);
  return {
    revision: createHash("sha256").update(out).digest("base64url").slice(0, 22),
    text: shown.trimEnd(),
    cursor: isShown === 1 && isDead === 0 && Number.isInteger(line + column) ? { line, column } : null,
    isRunning: isDead === 0,
  };
}

/** `note` is called once the terminal is found; if it fails, nothing is typed. */
export async function typeInto(
  machine: MachineInUse,
  { name, text }: { name: string; text: string },
  note: () => Promise<void>,
): Promise<void> {
  const target = await targetOf(machine, name);
  await note();
  // Return, as the key does.
  await tmux(machine, ["send-keys", "-t", target, "-l", "--", text.replaceAll("\n", "\r").replace(/;$/, "\\;")]);
}

/** By its number: a name may have characters that mean something in a target. */
async function targetOf(machine: MachineInUse, name: string): Promise<string> {
  const { out } = await tmux(machine, ["list-windows", "-t", terminalSession, "-F", "#{window_index} #{window_name}"]);
  const found = lines(out).find((line) => line.replace(/^\d+ /, "") === name);
  if (found === undefined)
    throw new ApiError("not_found", `The machine has no terminal ${JSON.stringify(name.slice(0, 100))}.`);
  return `${terminalSession}:${found.split(" ", 1)[0]}`;
}

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

async function tmux(
  { workspace, ended }: MachineInUse,
  args: string[],
): Promise<{ out: string; exitCode: number | null }> {
  let out = "";
  const isLong = new AbortController();
  const take = ({ stream, text }: { stream: string; text: string }) => {
    if (stream === "stdout") out += text;
    if (out.length > maxCharacters) isLong.abort();
  };
  const start = { argv: ["/bin/sh", "-c", 'exec tmux "$@"', "tmux", ...args], timeoutMs };
  const signal = AbortSignal.any([ended, isLong.signal]);
  const result = await workspace.exec({ id: randomUUID(), start }, take, signal).catch((error: unknown) => {
    if (!isLong.signal.aborted) throw error;
    return null;
  });
  if (isLong.signal.aborted) throw new ApiError("not_found", "The machine's tmux writes without end. Stop the run.");
  return { out, exitCode: result?.state === "exited" ? result.exitCode : null };
}
