// Bounds what the results of one run take on disk, whichever process of the worker has written them.
import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { linesOf } from "./result-lines.ts";

/** Of all sandboxes of a run. Commands that still run may exceed it, each by what is kept of one. */
const maxRunBytes = 512 * 1024 * 1024;

/** Of the oldest commands that have ended, the output goes: that they ran, and how they ended, stays known. */
export function limitResults(directory: string, maxBytes: number = maxRunBytes): void {
  const files = filesIn(directory).sort((one, other) => one.changedMs - other.changedMs);
  let total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { path, bytes } of files) {
    if (total <= maxBytes) return;
    total -= bytes - removeOutput(path, bytes);
  }
}

/** How many bytes are left. */
function removeOutput(path: string, bytes: number): number {
  const lines = linesOf(path);
  const { id } = lines[0] ?? {};
  const { ended } = lines.at(-1) ?? {};
  if (id === undefined || ended === undefined || lines.length === 2) return bytes;
  const removed = lines.reduce((sum, { chunk }) => sum + Buffer.byteLength(chunk?.text ?? ""), 0);
  const result = ended.state === "exited" ? { ...ended, droppedBytes: ended.droppedBytes + removed } : ended;
  const text = `${JSON.stringify({ id })}\n${JSON.stringify({ ended: result })}\n`;
  return replaceFile(path, text) ? Buffer.byteLength(text) : bytes;
}

/** At once: a file without its id would let the command run again. */
function replaceFile(path: string, text: string): boolean {
  const next = `${path}.next`;
  try {
    writeFileSync(next, text, { mode: 0o600 });
    renameSync(next, path);
    return true;
  } catch {
    rmSync(next, { force: true });
    return false;
  }
}

function filesIn(directory: string): { path: string; bytes: number; changedMs: number }[] {
  try {
    return readdirSync(directory, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => {
        const path = join(directory, name);
        const { size, mtimeMs } = statSync(path);
        return { path, bytes: size, changedMs: mtimeMs };
      });
  } catch {
    return [];
  }
}
