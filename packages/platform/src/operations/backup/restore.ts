// Restores a backup into an empty directory and database. The archive is verified to its end before anything changes.
import { existsSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";
import {
  copyIn,
  markRestore,
  migrationNames,
  openClient,
  openDatabase,
  readKeyFile,
  refuseHalfRestored,
  restoreKeyFile,
  type Settings,
  silentLog,
  unmarkRestore,
} from "../../foundation/index.ts";
import { type ArchiveEvent, type ArchiveFacts, type ArchiveReader, openArchive, type Section } from "./archive.ts";
import { BackupError } from "./backup-error.ts";
import { openFileRestorer } from "./restore-files.ts";
import { copyTarget, listTables, quoted } from "./tables.ts";

export interface RestoreRequest {
  path: string;
  passphrase: string | null;
  settings: Settings;
}

export async function restoreBackup({ path, passphrase, settings }: RestoreRequest): Promise<ArchiveFacts> {
  const archive = openArchive(path, passphrase);
  refuseNewer(archive.facts);
  refuseHalfRestored(settings.dataDirectory);
  refuseNonEmptyDirectory(settings);
  const kek = verifyArchive(archive);
  ensureKey(settings, archive.facts, kek);
  await fillDatabase(archive, settings);
  restoreFiles(archive, settings);
  unmarkRestore(settings.dataDirectory);
  return archive.facts;
}

function refuseNewer({ migrations, platformVersion }: ArchiveFacts): void {
  const unknown = migrations.filter((name) => !migrationNames().includes(name));
  if (unknown.length > 0)
    throw new BackupError(
      `The backup was made by a newer version (${platformVersion}, with ${unknown.join(", ")}). Restore it with that version.`,
    );
}

const allowedFiles = /^(?:postgres.*|config\.toml|server\.log)$/;

function refuseNonEmptyDirectory({ dataDirectory, kekFile }: Settings): void {
  if (!existsSync(dataDirectory)) return;
  const existing = readdirSync(dataDirectory).find(
    (name) => !allowedFiles.test(name) && join(dataDirectory, name) !== kekFile,
  );
  if (existing !== undefined)
    throw new BackupError(
      `${dataDirectory} is not empty: it contains ${existing}. Name an empty directory: --data DIR.`,
    );
}

/** Checks every frame; returns the key-encryption key if the archive contains it. */
function verifyArchive(archive: ArchiveReader): Buffer | null {
  let section: Section | null = null;
  let kek: Buffer | null = null;
  for (const event of archive.events()) {
    if (event.kind === "section") section = event.section;
    else if (section?.kind === "kek") kek = Buffer.concat([kek ?? Buffer.alloc(0), event.piece]);
  }
  return kek;
}

function ensureKey({ kekFile, dataDirectory }: Settings, { kekFingerprint }: ArchiveFacts, kek: Buffer | null): void {
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  if (kek !== null && !lstatSync(kekFile, { throwIfNoEntry: false })) restoreKeyFile(kekFile, kek);
  const own = readKeyFile(kekFile)?.fingerprint;
  if (own === kekFingerprint) return;
  const state = own === undefined ? "is missing" : `is a different one (${own})`;
  throw new BackupError(
    `The key file ${kekFile} ${state}, and the backup was sealed with fingerprint ${kekFingerprint}. Put that key there first.`,
  );
}

async function fillDatabase(archive: ArchiveReader, settings: Settings): Promise<void> {
  const last = archive.facts.migrations.at(-1);
  const older = await openDatabase(settings, silentLog, last);
  try {
    const client = await openClient(older.connection);
    try {
      await client.query("begin");
      await refuseNonEmptyDatabase(client);
      await fillTables(client, archive);
      markRestore(settings.dataDirectory);
      await client.query("commit");
    } finally {
      await client.end();
    }
  } finally {
    await older.close();
  }
  await (await openDatabase(settings, silentLog)).close();
}

async function refuseNonEmptyDatabase(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query("select from teams limit 1");
  if (rowCount) throw new BackupError("The database is not empty: it has teams. Name an empty one in DATABASE_URL.");
}

/** Triggers are off: the audit entries they would write are part of the backup. */
async function fillTables(client: pg.Client, archive: ArchiveReader): Promise<void> {
  const tables = (await listTables(client)).map(({ name }) => quoted(name));
  for (const table of tables) await client.query(`alter table ${table} disable trigger user`);
  await client.query(`truncate ${tables.join(", ")}`);
  const events = archive.events();
  for (let step = events.next(); !step.done; ) {
    const section = step.value.kind === "section" ? step.value.section : null;
    if (section?.kind === "table") {
      const rest = untilNextSection(events);
      await copyIn(client, `copy ${copyTarget(section)} from stdin`, rest.pieces());
      step = rest.next();
      continue;
    }
    if (section?.kind === "sequence")
      await client.query("select setval($1::regclass, $2::bigint)", [quoted(section.name), section.lastValue]);
    step = events.next();
  }
  for (const table of tables) await client.query(`alter table ${table} enable trigger user`);
}

/** Reads the data up to the next section, and keeps that section for `next`. */
function untilNextSection(events: Generator<ArchiveEvent>) {
  let next: IteratorResult<ArchiveEvent> | null = null;
  return {
    async *pieces(): AsyncGenerator<Buffer> {
      for (;;) {
        const step = events.next();
        if (step.done || step.value.kind === "section") {
          next = step;
          return;
        }
        yield step.value.piece;
      }
    },
    next: (): IteratorResult<ArchiveEvent> => next ?? events.next(),
  };
}

function restoreFiles(archive: ArchiveReader, { dataDirectory }: Settings): void {
  const restorer = openFileRestorer(dataDirectory, archive.facts.dataDirectory);
  for (const event of archive.events())
    if (event.kind === "section") restorer.begin(event.section);
    else restorer.write(event.piece);
  restorer.finish();
}
