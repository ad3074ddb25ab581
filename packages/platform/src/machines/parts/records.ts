// Records beside a machine, as JSON: complete or not there at all.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export function writeRecord(directory: string, name: string, record: object): void {
  const draft = join(directory, `${name}.new`);
  writeFileSync(draft, JSON.stringify(record), { mode: 0o600, flush: true });
  renameSync(draft, join(directory, name));
}

/** False if another record is there. Flushed: after a power loss the name could stand for an empty file. */
export function claimRecord(directory: string, name: string, record: object): boolean {
  const draft = join(directory, `${name}.${process.pid}`);
  writeFileSync(draft, JSON.stringify(record), { mode: 0o600, flush: true });
  try {
    linkSync(draft, join(directory, name));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft);
  }
}

export const removeRecord = (directory: string, name: string): void => rmSync(join(directory, name), { force: true });

/** Undefined if there is none. */
export function readRecord<Kind>(directory: string, name: string): Kind | undefined {
  try {
    return JSON.parse(readFileSync(join(directory, name), "utf8")) as Kind;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}
