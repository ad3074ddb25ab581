// Writes a backup: a snapshot of the tables, then the files. The server may keep running.
import { closeSync, existsSync, readFileSync, readSync, realpathSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";
import { type Connection, copyOut, type KeyEncryption, openClient } from "../../foundation/index.ts";
import { auditHeadFile, listFiles, listOthers } from "./files.ts";
import { openWithoutLinks } from "./open-without-links.ts";
import { copyTarget, listSequences, listTables, notBackedUp } from "./tables.ts";
import { type ArchiveWriter, createArchive } from "./write-archive.ts";

export interface BackupRequest {
  /** Must not exist. */
  path: string;
  connection: Connection;
  dataDirectory: string;
  kekFile: string;
  key: KeyEncryption;
  /** Null: the archive is not sealed, does not contain the key-encryption key, and is authenticated with it. */
  passphrase: string | null;
  platformVersion: string;
  now: Date;
}

export interface BackupSummary {
  tables: number;
  files: number;
  /** Names in the data directory that are not the platform's. */
  leftOut: string[];
}

/** The file appears only when it is complete. */
export async function makeBackup(request: BackupRequest): Promise<BackupSummary> {
  // Before the snapshot: entries may be added in the meantime, and a head must not be ahead of its log.
  const auditHead = readIfThere(join(request.dataDirectory, auditHeadFile));
  const client = await openClient(request.connection);
  try {
    await client.query("begin isolation level repeatable read read only");
    return await writeArchive(request, client, auditHead);
  } finally {
    await client.end();
  }
}

async function writeArchive(
  request: BackupRequest,
  client: pg.Client,
  auditHead: Buffer | null,
): Promise<BackupSummary> {
  const draft = `${request.path}.${process.pid}`;
  const { platformVersion, dataDirectory, key, now } = request;
  const { rows } = await client.query<{ name: string }>("select name from kysely_migration order by name");
  const migrations = rows.map(({ name }) => name);
  const createdAt = now.toISOString();
  const facts = { platformVersion, createdAt, migrations, dataDirectory, kekFingerprint: key.fingerprint };
  const archive = createArchive(draft, facts, request);
  try {
    const tables = await writeSnapshot(archive, client);
    const { files, leftOut } = writeFiles(archive, request);
    if (auditHead !== null) {
      archive.begin({ kind: "audit-head" });
      archive.write(auditHead);
    }
    if (request.passphrase !== null) {
      archive.begin({ kind: "kek" });
      archive.write(readFileSync(request.kekFile));
    }
    await archive.finish();
    renameSync(draft, request.path);
    return { tables, files, leftOut };
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
  for (const { name, lastValue } of await listSequences(client))
    if (lastValue !== null) archive.begin({ kind: "sequence", name, lastValue });
  return tables.length;
}

function writeFiles(archive: ArchiveWriter, { dataDirectory, kekFile, passphrase }: BackupRequest) {
  let files = 0;
  const listing = { dataDirectory, kekFile, keys: passphrase === null ? "public" : "all" } as const;
  for (const entry of listFiles(listing)) {
    const file = entry.kind === "file" ? openWithoutLinks(join(realpathSync(dataDirectory), entry.path), "file") : null;
    if (entry.kind === "file" && file === null) continue;
    archive.begin(entry);
    if (file === null) continue;
    files += 1;
    writeContent(archive, file);
  }
  return { files, leftOut: listOthers(listing) };
}

const readIfThere = (path: string): Buffer | null => (existsSync(path) ? readFileSync(path) : null);

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
