// Replaces configuration files atomically.
import { closeSync, fsyncSync, mkdirSync, openSync, realpathSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { dottedKey, leavesOf, type Table } from "./table.ts";

export function isSameConfig(left: Table, right: Table): boolean {
  const byKey = (table: Table) => new Map([...leavesOf(table)].map(({ path, value }) => [dottedKey(path), value]));
  return isDeepStrictEqual(byKey(left), byKey(right));
}

/** Atomic, readable by its owner only. A symbolic link is kept. */
export function replaceFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const target = realPath(path);
  const draft = `${target}.${process.pid}.draft`;
  const file = openSync(draft, "w", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, target);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
