// Writes a backup: the tables as they were at one moment, then the files. The server may go on meanwhile.
import { closeSync, openSync, readFileSync, readSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";
import { type Connection, copyOut, openClient } from "../db/index.ts";
import { type ArchiveWriter, createArchive } from "./archive.ts";
import { listFiles } from "./files.ts";
import { copyTarget, listSequences, listTables, momentary } from "./tables.ts";

export interface BackupWish {
  /** Must not exist. */
  path: string;
  connection: Connection;
  dataDirectory: string;
  kekFile: string;
  kekFingerprint: string;
  /** Null: nothing is sealed beyond what is sealed already, and the key-encryption key stays here. */
  passphrase: string | null;
  platformVersion: string;
  now: Date;
}

export interface BackupSummary {
  tables: number;
  files: number;
}

/** The file appears when it is complete. */
export async function makeBackup(wish: BackupWish): Promise<BackupSummary> {
  const client = await openClient(wish.connection);
  try {
    await client.query("begin isolation level repeatable read read only");
    return await writeArchive(wish, client);
  } finally {
    await client.end();
  }
}

async function writeArchive(wish: BackupWish, client: pg.Client): Promise<BackupSummary> {
  const draft = `${wish.path}.${process.pid}`;
  const { platformVersion, dataDirectory, kekFingerprint, now } = wish;
  const { rows } = await client.query<{ name: string }>("select name from kysely_migration order by name");
  const migrations = rows.map(({ name }) => name);
  const facts = { platformVersion, createdAt: now.toISOString(), migrations, dataDirectory, kekFingerprint };
  const archive = createArchive(draft, facts, wish.passphrase);
  try {
    const tables = await writeSnapshot(archive, client);
    const files = writeFiles(archive, wish);
    if (wish.passphrase !== null) {
      archive.begin({ kind: "kek" });
      archive.write(readFileSync(wish.kekFile));
    }
    archive.finish();
    renameSync(draft, wish.path);
    return { tables, files };
  } catch (error) {
    archive.abandon();
    rmSync(draft, { force: true });
    throw error;
  }
}

async function writeSnapshot(archive: ArchiveWriter, client: pg.Client): Promise<number> {
  const tables = (await listTables(client)).filter(({ name }) => !momentary.includes(name));
  for (const table of tables) {
    archive.begin({ kind: "table", ...table });
    await copyOut(client, `copy ${copyTarget(table)} to stdout`, archive.write);
  }
  // After the tables: a number that was given out meanwhile is not given out again.
  for (const sequence of await listSequences(client)) archive.begin({ kind: "sequence", ...sequence });
  return tables.length;
}

function writeFiles(archive: ArchiveWriter, { dataDirectory, kekFile, passphrase }: BackupWish): number {
  let files = 0;
  for (const entry of listFiles({ dataDirectory, kekFile, keys: passphrase === null ? "public" : "all" })) {
    const file = entry.kind === "file" ? openIfThere(join(dataDirectory, entry.path)) : null;
    if (entry.kind === "file" && file === null) continue;
    archive.begin(entry);
    if (file === null) continue;
    files += 1;
    writeContent(archive, file);
  }
  return files;
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

const pieceBytes = 256 * 1024;

function writeContent(archive: ArchiveWriter, file: number): void {
  try {
    for (;;) {
      const piece = Buffer.alloc(pieceBytes);
      const read = readSync(file, piece);
      if (read === 0) return;
      archive.write(piece.subarray(0, read));
    }
  } finally {
    closeSync(file);
  }
}
