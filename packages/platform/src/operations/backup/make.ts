// Writes a backup: a snapshot of the tables, then the files. The server may keep running.
import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { type FileHandle, lstat } from "node:fs/promises";
import { join } from "node:path";
import type pg from "pg";
import { type Connection, copyOut, type KeyEncryption, openClient, openFile } from "../../foundation/index.ts";
import { auditHeadFile, type FoundFile, type LeftOut, listFiles, listOthers } from "./files.ts";
import { openHoleLimit } from "./holes.ts";
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
  others: string[];
  /** Files of agents that could not be read, or that a restore could not create; agents can make any number of them. */
  leftOut: { count: number; first: LeftOut[] };
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
  const { fingerprint: kekFingerprint, authenticationKey } = key;
  const service = authenticationKey && { kekAuthenticationKey: authenticationKey.toString("base64") };
  const facts = { platformVersion, createdAt, migrations, dataDirectory, kekFingerprint, ...service };
  const archive = createArchive(draft, facts, request);
  try {
    const tables = await writeSnapshot(archive, client);
    const { files, others, leftOut } = await writeFiles(archive, request);
    if (auditHead !== null) {
      archive.begin({ kind: "audit-head" });
      archive.write(auditHead);
    }
    if (request.passphrase !== null && authenticationKey === null) {
      archive.begin({ kind: "kek" });
      archive.write(readFileSync(request.kekFile));
    }
    await archive.finish();
    renameSync(draft, request.path);
    return { tables, files, others, leftOut };
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

async function writeFiles(archive: ArchiveWriter, { dataDirectory, kekFile, passphrase }: BackupRequest) {
  let files = 0;
  const leftOut: BackupSummary["leftOut"] = { count: 0, first: [] };
  const leaveOut = (file: LeftOut) => {
    leftOut.count += 1;
    if (leftOut.count <= maxListed) leftOut.first.push(file);
  };
  const exceedsHoles = openHoleLimit();
  const listing = { dataDirectory, kekFile, keys: passphrase === null ? "public" : "all" } as const;
  for await (const found of listFiles(listing, leaveOut)) {
    const { section, entry } = found;
    if (section.kind !== "file") archive.begin(section);
    else if (exceedsHoles(found))
      leaveOut({ path: section.path, reason: "its agent has too many files with holes or several names" });
    else if (await writeFile(archive, found)) files += 1;
    else if (await isStillThere(entry)) leaveOut({ path: section.path, reason: "it could not be read" });
  }
  return { files, others: listOthers(listing), leftOut };
}

const maxListed = 100;

const isStillThere = ({ address }: FoundFile["entry"]): Promise<boolean> =>
  lstat(address).then(
    (stats) => stats.isFile(),
    () => false,
  );

/** False if it could not be opened. */
export async function writeFile(
  archive: Pick<ArchiveWriter, "begin" | "write">,
  { section, entry }: FoundFile,
): Promise<boolean> {
  const file = await openFile(entry);
  if (file === null) return false;
  try {
    archive.begin(section);
    await writeContent(archive, file, entry.stats.size);
    return true;
  } finally {
    await file.close();
  }
}

const readIfThere = (path: string): Buffer | null => (existsSync(path) ? readFileSync(path) : null);

const pieceBytes = 256 * 1024;

/** No more than was judged: an agent may make its file longer all the time. */
async function writeContent(archive: Pick<ArchiveWriter, "write">, file: FileHandle, maxBytes: number): Promise<void> {
  for (let left = maxBytes; left > 0; ) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(pieceBytes, left)));
    if (bytesRead === 0) return;
    archive.write(buffer.subarray(0, bytesRead));
    left -= bytesRead;
  }
}
