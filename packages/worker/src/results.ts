// What the commands of a sandbox have printed and how they ended, on disk: a worker that is started again still has it.
// Kept until the run of the agent ends.
import { createHash } from "node:crypto";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Chunk, ExecResult } from "@agentcli/protocol";
import { linesOf } from "./result-lines.ts";
import { limitResults } from "./results-limit.ts";

/** Which sandbox of which run. */
export interface SandboxName {
  runId: string;
  key: string;
  incarnation: string;
}

export interface KeptResult {
  chunks: Chunk[];
  /** Null: the worker ended while it ran. */
  ended: ExecResult | null;
}

export interface SandboxResults {
  /** Of a command that an earlier process of this worker started. */
  find(id: string): KeptResult | undefined;
  /** Before the command is started: it is not started again after that. */
  begin(id: string): RecordedResult;
  remove(ids: string[]): void;
  /** What ends from now on was ended by the worker, and is not kept. */
  stop(): void;
}

export interface RecordedResult {
  add(chunk: Chunk): void;
  end(result: ExecResult): void;
  /** How the command ends cannot be known any more. */
  close(): void;
}

/** Of one command; what is longer is cut, and counted. */
const maxBytes = 8 * 1024 * 1024;
/** Of one sandbox; the oldest go first. */
const maxResults = 500;

const directoryOf = (agentDirectory: string): string => join(agentDirectory, "results");
const sandboxDirectory = (agentDirectory: string, key: string): string =>
  join(directoryOf(agentDirectory), createHash("sha256").update(key).digest("hex").slice(0, 32));

/** The sandboxes of this run that an earlier process of the worker had open: their incarnation, by their key. Those of other runs are removed. */
export function restoreSandboxes(agentDirectory: string, runId: string): Map<string, string> {
  const all = namesIn(directoryOf(agentDirectory)).flatMap(
    (name) => readSandbox(join(directoryOf(agentDirectory), name)) ?? [],
  );
  const own = all.filter((sandbox) => sandbox.runId === runId);
  if (own.length < all.length || own.length === 0) removeResults(agentDirectory);
  return new Map(own.map(({ key, incarnation }) => [key, incarnation]));
}

export function removeResults(agentDirectory: string, key?: string): void {
  const path = key === undefined ? directoryOf(agentDirectory) : sandboxDirectory(agentDirectory, key);
  rmSync(path, { recursive: true, force: true });
}

/** Results of another incarnation under this key are removed. */
export function openResults(agentDirectory: string, sandbox: SandboxName): SandboxResults {
  const directory = sandboxDirectory(agentDirectory, sandbox.key);
  if (readSandbox(directory)?.incarnation !== sandbox.incarnation) removeResults(agentDirectory, sandbox.key);
  writeSandbox(directory, sandbox);
  const earlier = readResults(directory);
  const files = new Map<string, string>();
  let count = earlier.count;
  let isStopped = false;
  const remove = (id: string): void => {
    const file = files.get(id) ?? earlier.files.get(id);
    files.delete(id);
    earlier.files.delete(id);
    if (file !== undefined) rmSync(file, { force: true });
  };
  return {
    find: (id) => (earlier.files.has(id) ? readResult(earlier.files.get(id) ?? "") : undefined),
    begin(id) {
      count += 1;
      const file = join(directory, `${String(count).padStart(9, "0")}.jsonl`);
      files.set(id, file);
      for (const oldest of [...files.keys()].slice(0, -maxResults)) remove(oldest);
      limitResults(directoryOf(agentDirectory));
      return openRecord(file, id, () => isStopped);
    },
    remove(ids) {
      for (const id of ids.length === 0 ? [...files.keys(), ...earlier.files.keys()] : ids) remove(id);
    },
    stop() {
      isStopped = true;
    },
  };
}

/** Written at once, so that it is there however the process ends; a full disk only costs what would be kept. */
function openRecord(file: string, id: string, isStopped: () => boolean): RecordedResult {
  let [bytes, dropped] = [0, 0];
  let descriptor: number | null = openFile(file);
  const close = (): void => {
    if (descriptor !== null) closeSync(descriptor);
    descriptor = null;
  };
  const write = (line: string): void => {
    if (descriptor === null) return;
    try {
      writeSync(descriptor, `${line}\n`);
    } catch {
      close();
    }
  };
  write(JSON.stringify({ id }));
  return {
    add(chunk) {
      const line = JSON.stringify({ chunk });
      bytes += Buffer.byteLength(line);
      if (bytes <= maxBytes) write(line);
      else dropped += Buffer.byteLength(chunk.text);
    },
    end(result) {
      if (!isStopped()) write(JSON.stringify({ ended: withoutFile(result, dropped) }));
      close();
    },
    close,
  };
}

/** Null if the disk takes no more. */
function openFile(file: string): number | null {
  try {
    return openSync(file, "wx", 0o600);
  } catch {
    return null;
  }
}

/** Its file of the whole output ends with its sandbox. */
function withoutFile(result: ExecResult, dropped: number): ExecResult {
  if (result.state !== "exited") return result;
  const { outputFile: _, ...rest } = result;
  return { ...rest, droppedBytes: dropped };
}

function readResults(directory: string): { files: Map<string, string>; count: number } {
  const names = namesIn(directory).filter((name) => name.endsWith(".jsonl"));
  const files = new Map<string, string>();
  for (const name of names) {
    const file = join(directory, name);
    const [first] = linesOf(file);
    if (first?.id !== undefined) files.set(first.id, file);
  }
  return { files, count: Math.max(0, ...names.map((name) => Number.parseInt(name, 10))) };
}

function readResult(file: string): KeptResult {
  const lines = linesOf(file);
  return {
    chunks: lines.flatMap(({ chunk }) => chunk ?? []),
    ended: lines.findLast(({ ended }) => ended !== undefined)?.ended ?? null,
  };
}

/** Without it the results are not found after a restart; the sandbox works. */
function writeSandbox(directory: string, { runId, key, incarnation }: SandboxName): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(join(directory, "sandbox.json"), JSON.stringify({ runId, key, incarnation }), { mode: 0o600 });
  } catch {
    // A full disk: commands run all the same.
  }
}

function readSandbox(directory: string): SandboxName | undefined {
  try {
    return JSON.parse(readFileSync(join(directory, "sandbox.json"), "utf8")) as SandboxName;
  } catch {
    return undefined;
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}
