// Brings a backup back into an empty place. It is read to its end before anything is changed.
import { existsSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";
import type { Settings } from "../config/index.ts";
import { copyIn, migrationNames, openClient, openDatabase } from "../db/index.ts";
import { silentLog } from "../telemetry/index.ts";
import { readKeyFile, restoreKeyFile } from "../vault/index.ts";
import { type ArchiveEvent, type ArchiveFacts, type ArchiveReader, openArchive, type Section } from "./archive.ts";
import { openPlacer } from "./place.ts";
import { BackupProblem } from "./problem.ts";
import { copyTarget, listTables, quoted } from "./tables.ts";
import { markRestore, refuseHalfRestored, unmarkRestore } from "./underway.ts";

export interface RestoreWish {
  path: string;
  passphrase: string | null;
  settings: Settings;
}

export async function restoreBackup({ path, passphrase, settings }: RestoreWish): Promise<ArchiveFacts> {
  const archive = openArchive(path, passphrase);
  refuseNewer(archive.facts);
  refuseHalfRestored(settings.dataDirectory);
  refuseFull(settings);
  const kek = readThrough(archive);
  provideKey(settings, archive.facts, kek);
  await fillDatabase(archive, settings);
  placeFiles(archive, settings);
  unmarkRestore(settings.dataDirectory);
  return archive.facts;
}

function refuseNewer({ migrations, platformVersion }: ArchiveFacts): void {
  const unknown = migrations.filter((name) => !migrationNames().includes(name));
  if (unknown.length > 0)
    throw new BackupProblem(
      `The backup is of a newer platform (${platformVersion}, with ${unknown.join(", ")}). Restore it with that version.`,
    );
}

const mayBeThere = /^(?:postgres.*|config\.toml|server\.log)$/;

function refuseFull({ dataDirectory, kekFile }: Settings): void {
  if (!existsSync(dataDirectory)) return;
  const there = readdirSync(dataDirectory).find(
    (name) => !mayBeThere.test(name) && join(dataDirectory, name) !== kekFile,
  );
  if (there !== undefined)
    throw new BackupProblem(`${dataDirectory} is not empty: there is ${there}. Name an empty directory: --data DIR.`);
}

/** Every frame is looked at; the key-encryption key, where it has one. */
function readThrough(archive: ArchiveReader): Buffer | null {
  let section: Section | null = null;
  let kek: Buffer | null = null;
  for (const event of archive.events()) {
    if (event.kind === "section") section = event.section;
    else if (section?.kind === "kek") kek = Buffer.concat([kek ?? Buffer.alloc(0), event.piece]);
  }
  return kek;
}

function provideKey({ kekFile, dataDirectory }: Settings, { kekFingerprint }: ArchiveFacts, kek: Buffer | null): void {
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  if (kek !== null && !lstatSync(kekFile, { throwIfNoEntry: false })) restoreKeyFile(kekFile, kek);
  const own = readKeyFile(kekFile)?.fingerprint;
  if (own === kekFingerprint) return;
  const state = own === undefined ? "is missing" : `is another one (${own})`;
  throw new BackupProblem(
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
      await refuseUsed(client);
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

async function refuseUsed(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query("select from teams limit 1");
  if (rowCount) throw new BackupProblem("The database is in use: it has teams. Name an empty one in DATABASE_URL.");
}

/** Without the triggers: what they would note has been noted, and comes along. */
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

/** The data up to the next section, which is not lost. */
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

function placeFiles(archive: ArchiveReader, { dataDirectory }: Settings): void {
  const placer = openPlacer(dataDirectory, archive.facts.dataDirectory);
  for (const event of archive.events())
    if (event.kind === "section") placer.begin(event.section);
    else placer.write(event.piece);
  placer.finish();
}
