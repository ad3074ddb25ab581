// Restores a backup into an empty directory and database. The archive is verified to its end before anything changes.
import { existsSync, lstatSync, mkdirSync, readdirSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import type pg from "pg";
import {
  type Connection,
  configuredKey,
  copyIn,
  hasRunningServer,
  type KeyEncryption,
  markRestore,
  markRestoredTables,
  migrationNames,
  openClient,
  openRestoringDatabase,
  refuseHalfRestored,
  refuseHalfRestoredTables,
  restoreKeyFile,
  type Settings,
  silentLog,
  unmarkRestore,
  unmarkRestoredTables,
} from "../../foundation/index.ts";
import { BackupError } from "./backup-error.ts";
import { allowedEvents, type Contents, verifyArchive } from "./contents.ts";
import { type ArchiveEvent, type ArchiveFacts, currentVersion } from "./format.ts";
import { type ArchiveReader, openArchive } from "./read-archive.ts";
import { openFileRestorer } from "./restore-files.ts";
import { copyTarget, forgetDataDirectories, listSequences, listTables, notBackedUp, quoted } from "./tables.ts";

export interface RestoreRequest {
  path: string;
  /** Given: the backup must be sealed with it. */
  passphrase: string | null;
  settings: Settings;
  /** Before the tables are committed an abort leaves an empty database, afterwards a directory that no server accepts. */
  signal: AbortSignal;
}

export interface RestoreSummary {
  createdAt: string;
  /** Files of a backup of the former version that are not the platform's. */
  leftOut: string[];
}

export async function restoreBackup({ path, passphrase, settings, signal }: RestoreRequest): Promise<RestoreSummary> {
  const archive = openArchive(path, { passphrase, findKey: (facts) => requireKey(settings, facts) });
  const { createdAt } = archive.facts;
  refuseNewer(archive.facts);
  refuseHalfRestored(settings.dataDirectory);
  refuseNonEmptyDirectory(settings);
  const contents = await verifyArchive(archive, signal);
  refuseWithoutSpace(settings, contents);
  mkdirSync(settings.dataDirectory, { recursive: true, mode: 0o700 });
  const { kek, leftOut } = contents;
  if (kek !== null && !lstatSync(settings.kekFile, { throwIfNoEntry: false })) restoreKeyFile(settings.kekFile, kek);
  requireKey(settings, archive.facts);
  await fillDatabase({ archive, contents, signal }, settings);
  const database = await openRestoringDatabase(settings, silentLog);
  try {
    await restoreFiles(archive, settings, signal);
    await unmarkRestoredTables(database.db);
  } finally {
    await database.close();
  }
  unmarkRestore(settings.dataDirectory);
  return { createdAt, leftOut };
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
      `${dataDirectory} is not empty: it contains ${existing}. Specify an empty directory: --data DIR.`,
    );
}

/** Compression hides how large a backup is. */
function refuseWithoutSpace({ dataDirectory, databaseUrl }: Settings, { bytes }: Contents): void {
  const needed = bytes.files + (databaseUrl === null ? bytes.tables : 0);
  const { bavail, bsize } = statfsSync(existingParent(dataDirectory));
  if (needed > bavail * bsize)
    throw new BackupError(
      `The backup needs ${needed} bytes, and the disk of ${dataDirectory} has ${bavail * bsize} free. Specify a directory on another disk: --data DIR.`,
    );
}

const existingParent = (path: string): string => (existsSync(path) ? path : existingParent(dirname(path)));

function requireKey(settings: Settings, { kekFingerprint, kekAuthenticationKey }: ArchiveFacts): KeyEncryption {
  const { kms, kekFile } = settings;
  const own = configuredKey(
    settings,
    kekAuthenticationKey === undefined ? null : Buffer.from(kekAuthenticationKey, "base64"),
  );
  if (own?.fingerprint === kekFingerprint) return own;
  if (kms !== null || kekAuthenticationKey !== undefined)
    throw new BackupError(
      `The backup was sealed with fingerprint ${kekFingerprint}, and ${own?.description ?? (kms === null ? "[kms], which names the service that has this key, is missing" : `the key of [kms] (${kms.key})`)} is another key. Name the right one in [kms], or leave [kms] out for a key file.`,
    );
  const state = own === null ? "is missing" : `is a different one (${own.fingerprint})`;
  throw new BackupError(
    `The key file ${kekFile} ${state}, and the backup was sealed with fingerprint ${kekFingerprint}. Put that key there first.`,
  );
}

interface Restoring {
  archive: ArchiveReader;
  contents: Contents;
  signal: AbortSignal;
}

async function fillDatabase(restoring: Restoring, settings: Settings): Promise<void> {
  const { archive, signal } = restoring;
  const older = await openRestoringDatabase(settings, silentLog, archive.facts.migrations.at(-1));
  try {
    await refuseHalfRestoredTables(older.db);
    await withAbortableClient(older.connection, signal, async (client) => {
      await client.query("begin");
      await refuseNonEmptyDatabase(client);
      await refuseServer(client);
      await refuseUnknownTables(client, restoring);
      await fillTables(client, restoring);
      if (restoring.contents.tables.some(({ name }) => name === "agent_disks"))
        for (const statement of forgetDataDirectories) await client.query(statement);
      signal.throwIfAborted();
      // One that starts meanwhile holds its lock and waits for the tables.
      await refuseServer(client);
      await markRestoredTables(client);
      markRestore(settings.dataDirectory);
      await client.query("commit");
    });
  } finally {
    await older.close();
  }
}

/** An abort ends the connection, also while a statement waits for a lock. */
async function withAbortableClient(
  connection: Connection,
  signal: AbortSignal,
  use: (client: pg.Client) => Promise<void>,
): Promise<void> {
  signal.throwIfAborted();
  const client = await openClient(connection);
  const end = () => void client.end().catch(() => {});
  signal.addEventListener("abort", end);
  try {
    await use(client);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", end);
    await client.end();
  }
}

/** One without teams has its own key-encryption key, and would go on with rows that it cannot open. */
async function refuseServer(client: pg.Client): Promise<void> {
  if (await hasRunningServer(client))
    throw new BackupError("A server is running on this database. Stop it, or set DATABASE_URL to an empty one.");
}

async function refuseNonEmptyDatabase(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query("select from teams limit 1");
  if (rowCount) throw new BackupError("The database is not empty: it has teams. Set DATABASE_URL to an empty one.");
}

async function refuseUnknownTables(client: pg.Client, { contents, archive }: Restoring): Promise<void> {
  const excluded = archive.facts.formatVersion === currentVersion ? notBackedUp : [];
  const tables = (await listTables(client)).filter(({ name }) => !excluded.includes(name));
  const known = new Map(tables.map(({ name, columns }) => [name, columns]));
  const sequences = await listSequences(client);
  const unknown = [
    ...contents.tables.flatMap(({ name, columns }) =>
      columns.filter((column) => !known.get(name)?.includes(column)).map((column) => `${name}.${column}`),
    ),
    ...contents.sequences.filter((name) => !sequences.some((sequence) => sequence.name === name)),
  ];
  if (unknown.length > 0)
    throw new BackupError(
      `The backup contains ${unknown[0]}, which its version does not have or does not back up. Use another backup.`,
    );
}

/** Triggers are off: the audit entries they would write are part of the backup. */
async function fillTables(client: pg.Client, { archive, signal }: Restoring): Promise<void> {
  const tables = (await listTables(client)).map(({ name }) => quoted(name));
  for (const table of tables) await client.query(`alter table ${table} disable trigger user`);
  await client.query(`truncate ${tables.join(", ")}`);
  const events = allowedEvents(archive, signal);
  for (let step = await events.next(); !step.done; ) {
    const section = step.value.kind === "section" ? step.value.section : null;
    if (section?.kind === "table") {
      const rest = untilNextSection(events);
      await copyIn(client, `copy ${copyTarget(section)} from stdin`, rest.pieces()).catch(
        refused(`rows of ${section.name}`),
      );
      step = await rest.next();
      continue;
    }
    if (section?.kind === "sequence")
      await client
        .query("select setval($1::regclass, $2::bigint)", [quoted(section.name), section.lastValue])
        .catch(refused(`the sequence ${section.name}`));
    step = await events.next();
  }
  for (const table of tables) await client.query(`alter table ${table} enable trigger user`);
}

/** An error of the database has a severity. */
const refused = (what: string) => (error: unknown) => {
  if (!(error instanceof Error) || !("severity" in error)) throw error;
  throw new BackupError(`The database refused ${what}: ${error.message}. Use another backup.`, { cause: error });
};

/** Reads the data up to the next section, and keeps that section for `next`. */
function untilNextSection(events: AsyncGenerator<ArchiveEvent>) {
  let next: IteratorResult<ArchiveEvent> | null = null;
  return {
    async *pieces(): AsyncGenerator<Buffer> {
      for (;;) {
        const step = await events.next();
        if (step.done || step.value.kind === "section") {
          next = step;
          return;
        }
        yield step.value.piece;
      }
    },
    next: async (): Promise<IteratorResult<ArchiveEvent>> => next ?? (await events.next()),
  };
}

async function restoreFiles(archive: ArchiveReader, { dataDirectory }: Settings, signal: AbortSignal): Promise<void> {
  const restorer = openFileRestorer(dataDirectory, archive.facts.dataDirectory);
  for await (const event of allowedEvents(archive, signal))
    if (event.kind === "section") restorer.begin(event.section);
    else restorer.write(event.piece);
  restorer.finish();
}
