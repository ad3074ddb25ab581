// The terminals of a machine for people: read, and typed into, through the tmux session that the agent uses too.
import { randomUUID } from "node:crypto";
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

export async function typeInto(machine: MachineInUse, name: string, text: string): Promise<void> {
  const target = await targetOf(machine, name);
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
