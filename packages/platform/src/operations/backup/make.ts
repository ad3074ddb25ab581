// Writes a backup: a snapshot of the tables, then the files. The server may keep running.
import { closeSync, openSync, readFileSync, readSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";
import { type Connection, copyOut, openClient } from "../../foundation/index.ts";
import { type ArchiveWriter, createArchive } from "./archive.ts";
import { listFiles } from "./files.ts";
import { copyTarget, listSequences, listTables, notBackedUp } from "./tables.ts";

export interface BackupRequest {
  /** Must not exist. */
  path: string;
  connection: Connection;
  dataDirectory: string;
  kekFile: string;
  kekFingerprint: string;
  /** Null: the archive is not sealed and does not contain the key-encryption key. */
  passphrase: string | null;
  platformVersion: string;
  now: Date;
}

export interface BackupSummary {
  tables: number;
  files: number;
}

/** The file appears only when it is complete. */
export async function makeBackup(request: BackupRequest): Promise<BackupSummary> {
  const client = await openClient(request.connection);
  try {
    await client.query("begin isolation level repeatable read read only");
    return await writeArchive(request, client);
  } finally {
    await client.end();
  }
}

async function writeArchive(request: BackupRequest, client: pg.Client): Promise<BackupSummary> {
  const draft = `${request.path}.${process.pid}`;
  const { platformVersion, dataDirectory, kekFingerprint, now } = request;
  const { rows } = await client.query<{ name: string }>("select name from kysely_migration order by name");
  const migrations = rows.map(({ name }) => name);
  const facts = { platformVersion, createdAt: now.toISOString(), migrations, dataDirectory, kekFingerprint };
  const archive = createArchive(draft, facts, request.passphrase);
  try {
    const tables = await writeSnapshot(archive, client);
    const files = writeFiles(archive, request);
    if (request.passphrase !== null) {
      archive.begin({ kind: "kek" });
      archive.write(readFileSync(request.kekFile));
    }
    archive.finish();
    renameSync(draft, request.path);
    return { tables, files };
  } catch (error) {
    archive.abandon();
    rmSync(draft, { force: true });
    throw error;
  }
}

async function writeSnapshot(archive: ArchiveWriter, client: pg.Client): Promise<number> {
  const tables = (await listTables(client)).filter(({ name }) => !notBackedUp.includes(name));
  for (const table of tables) {
    archive.begin({ kind: "table", ...table });
    await copyOut(client, `copy ${copyTarget(table)} to stdout`, archive.write);
  }
  // After the tables: numbers assigned meanwhile are not assigned again.
  for (const sequence of await listSequences(client)) archive.begin({ kind: "sequence", ...sequence });
  return tables.length;
}

function writeFiles(archive: ArchiveWriter, { dataDirectory, kekFile, passphrase }: BackupRequest): number {
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
