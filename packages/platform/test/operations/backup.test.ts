// Backups: content is restored unchanged, tampering is detected, incompatible backups are refused.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import fc from "fast-check";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { openVault } from "../../src/foundation/vault/index.ts";
import { verifyLog, withStoredLog } from "../../src/identity/audit/index.ts";
import { openInvitations } from "../../src/identity/invitations/index.ts";
import { makeLoginLink } from "../../src/identity/sessions/index.ts";
import { listFiles } from "../../src/operations/backup/files.ts";
import type { ArchiveEvent, Section } from "../../src/operations/backup/format.ts";
import { makeBackup } from "../../src/operations/backup/index.ts";
import { openArchive } from "../../src/operations/backup/read-archive.ts";
import { inDependencyOrder, type StoredTable } from "../../src/operations/backup/tables.ts";
import type { TestDatabase } from "../harness/database.ts";
import { keyIn, noSignal, openBackupHarness, passphrase, restoreBackup } from "./backup-harness.ts";

const runs = Number(process.env.FUZZ_RUNS ?? 200);
async function eventsIn(path: string, seal: string | null, kekFile: string): Promise<ArchiveEvent[]> {
  const events: ArchiveEvent[] = [];
  for await (const event of openArchive(path, { passphrase: seal, findKey: () => keyIn(kekFile) }).events(noSignal))
    events.push(event);
  return events;
}

const sectionsIn = async (...source: Parameters<typeof eventsIn>): Promise<Section[]> =>
  (await eventsIn(...source)).flatMap((event) => (event.kind === "section" ? event.section : []));

/** Every row of every table, as text; without that of the server, which notes every few seconds that it is there. */
async function contentOf(db: TestDatabase["db"]): Promise<Record<string, string[]>> {
  const tables = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_name not like 'kysely%' and table_name <> 'nodes' order by 1`.execute(db);
  const content: Record<string, string[]> = {};
  for (const { name } of tables.rows) {
    const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.table(name)} t order by 1`.execute(db);
    content[name] = rows.map(({ row }) => row);
  }
  return content;
}

test("sessions and login links are not restored, invitations and identities are", async () => {
  const { source, backup, emptyTarget } = await openBackupHarness();
  const { db, sessions } = source.platform;
  const { id: userId, team_id: teamId } = await db.selectFrom("users").selectAll().executeTakeFirstOrThrow();
  await sessions.begin(userId, "link");
  await makeLoginLink(db, userId, "http://127.0.0.1");
  await openInvitations(db, () => new Date()).invite({ teamId, email: "a@example.com", role: "member" });
  await db.insertInto("identities").values({ issuer: "https://a.example", subject: "1", user_id: userId }).execute();
  const target = await emptyTarget();
  await restoreBackup({ path: await backup(passphrase), passphrase, settings: target.settings });
  const { sessions: kept, login_links, ...rest } = await contentOf(target.database.db);
  expect([kept, login_links]).toEqual([[], []]);
  expect([rest.invitations?.length, rest.identities?.length]).toEqual([1, 1]);
});

test("a backup contains the platform's private keys only if it is sealed", async () => {
  const { source, backup } = await openBackupHarness();
  const { dataDirectory } = source.platform.settings;
  mkdirSync(join(dataDirectory, "ssh"));
  for (const name of ["signing-key", "ssh/id", "ssh/known_hosts"]) writeFileSync(join(dataDirectory, name), name);
  const { kekFile } = source.platform.settings;
  const filesIn = async (path: string, seal: string | null) =>
    (await sectionsIn(path, seal, kekFile)).flatMap((section) => (section.kind === "file" ? section.path : []));
  expect(await filesIn(await backup(), null)).toEqual(["ssh/known_hosts"]);
  expect(await filesIn(await backup(passphrase), passphrase)).toEqual(["signing-key", "ssh/id", "ssh/known_hosts"]);
});

test("tables, files, modes, links and sequences are restored, and the key if it is sealed in", async () => {
  const { source, backup, emptyTarget } = await openBackupHarness();
  const { dataDirectory } = source.platform.settings;
  mkdirSync(join(dataDirectory, "artifacts/deep"), { recursive: true });
  writeFileSync(join(dataDirectory, "artifacts/deep/sealed"), Buffer.alloc(3_000_000, 7));
  chmodSync(join(dataDirectory, "artifacts/deep/sealed"), 0o640);
  chmodSync(join(dataDirectory, "artifacts/deep"), 0o555);
  onTestFinished(() => chmodSync(join(dataDirectory, "artifacts/deep"), 0o755));
  symlinkSync("/nowhere/at/all", join(dataDirectory, "artifacts/link"));
  mkdirSync(join(dataDirectory, "handoffs/a/r.git/objects/info"), { recursive: true });
  writeFileSync(
    join(dataDirectory, "handoffs/a/r.git/objects/info/alternates"),
    `${dataDirectory}/mirrors/m/objects\n`,
  );
  const odd = "tab\tback\\slash\nline ü \u{1F600}";
  await source.platform.db.updateTable("users").set({ first_name: odd }).execute();
  const path = await backup(passphrase);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const before = await contentOf(source.platform.db);
  const target = await emptyTarget();
  await restoreBackup({ path, passphrase, settings: target.settings });
  const after = await contentOf(target.database.db);
  expect(after).toEqual(before);
  const at = (name: string) => join(target.settings.dataDirectory, name);
  expect(readFileSync(at("artifacts/deep/sealed")).equals(Buffer.alloc(3_000_000, 7))).toBe(true);
  expect([statSync(at("artifacts/deep/sealed")).mode & 0o777, statSync(at("artifacts/deep")).mode & 0o777]).toEqual([
    0o640, 0o555,
  ]);
  chmodSync(at("artifacts/deep"), 0o755);
  expect(readlinkSync(at("artifacts/link"))).toBe("/nowhere/at/all");
  expect(readFileSync(at("handoffs/a/r.git/objects/info/alternates"), "utf8")).toBe(`${at("mirrors/m/objects")}\n`);
  const vault = await openVault(target.database.db, target.settings);
  const [team] = await target.database.db.selectFrom("teams").select("data_key").execute();
  await vault.unwrap(team?.data_key ?? Buffer.alloc(0));
  const next = await target.database.db
    .insertInto("users")
    .values({ team_id: 1, email: "next@example.com", role: "member" })
    .returning("id")
    .executeTakeFirstOrThrow();
  expect(next.id).toBe(2);
  const verdict = await withStoredLog(target.database.db, (log) => verifyLog(log, []));
  expect(verdict).toMatchObject({ kind: "whole", head: { seq: (before.audit_entries?.length ?? 0) + 1 } });
});

test("without a passphrase the backup does not contain the key, which must exist before the restore", async () => {
  const { source, backup, emptyTarget } = await openBackupHarness();
  const path = await backup();
  const { kekFile } = source.platform.settings;
  const kinds = await sectionsIn(path, null, kekFile);
  expect(kinds.some((section) => section.kind === "kek" || ("path" in section && section.path === "kek"))).toBe(false);
  const { settings, database } = await emptyTarget();
  const options = { path, passphrase: null, settings };
  await expect(restoreBackup(options)).rejects.toThrow(/kek is missing, and the backup was sealed with fingerprint/);
  expect((await sql`select to_regclass('teams') as there`.execute(database.db)).rows).toEqual([{ there: null }]);
  mkdirSync(settings.dataDirectory);
  writeFileSync(settings.kekFile, readFileSync(kekFile), { mode: 0o600 });
  await restoreBackup(options);
  expect(await contentOf(database.db)).toEqual(await contentOf(source.platform.db));
});

test("no content can be read without the passphrase", async () => {
  const { source, backup } = await openBackupHarness();
  const { dataDirectory, kekFile } = source.platform.settings;
  mkdirSync(join(dataDirectory, "workspaces"));
  writeFileSync(join(dataDirectory, "workspaces/plain"), "something a person wrote");
  const path = await backup(passphrase);
  const bytes = readFileSync(path);
  for (const secret of ["something a person", "admin@localhost", readFileSync(kekFile, "utf8").trim()])
    expect(bytes.includes(secret)).toBe(false);
  await expect(eventsIn(path, "another passphrase", kekFile)).rejects.toThrow("the passphrase is wrong");
  await expect(eventsIn(path, null, kekFile)).rejects.toThrow("encrypted with a passphrase");
});

test.each([["sealed"], ["plain"]])("every changed, missing or added byte of a %s backup is detected", async (kind) => {
  const { source, backup } = await openBackupHarness();
  const seal = kind === "sealed" ? passphrase : undefined;
  const path = await backup(seal);
  const { kekFile } = source.platform.settings;
  const bytes = readFileSync(path);
  const judge = async (changed: Buffer) => {
    writeFileSync(path, changed);
    return eventsIn(path, seal ?? null, kekFile).then(
      () => "whole",
      (error: Error) => error.name,
    );
  };
  expect(await judge(bytes)).toBe("whole");
  expect(await judge(bytes.subarray(0, -1))).toBe("BackupError");
  expect(await judge(Buffer.concat([bytes, Buffer.of(0)]))).toBe("BackupError");
  // The last byte is padded with unused bits. The header line is included.
  const last = bytes.length - 2;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: last }), fc.integer({ min: 1, max: 255 }), async (at, by) => {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ by;
      expect(await judge(changed)).toBe("BackupError");
    }),
    { numRuns: kind === "sealed" ? 10 : Math.min(runs, 300) },
  );
});

test("a target in use, a newer schema and a file that is not a backup are refused, and nothing is changed", async () => {
  const { source, backup, emptyTarget } = await openBackupHarness();
  const path = await backup(passphrase);
  const { settings } = source.platform;
  await expect(restoreBackup({ path, passphrase, settings: { ...settings, kekFile: "/x" } })).rejects.toThrow(
    "is not empty",
  );
  const target = await emptyTarget();
  const full = { ...target.settings, databaseUrl: settings.databaseUrl };
  await expect(restoreBackup({ path, passphrase, settings: full })).rejects.toThrow("The database is not empty");
  const [line = "", ...rest] = readFileSync(path, "latin1").split("\n");
  const facts = JSON.parse(line);
  const newer = join(path, "..", "newer");
  const header = JSON.stringify({ ...facts, migrations: [...facts.migrations, "9999-later"] });
  writeFileSync(newer, [header, ...rest].join("\n"), "latin1");
  const again = await emptyTarget();
  await expect(restoreBackup({ path: newer, passphrase, settings: again.settings })).rejects.toThrow(
    "by a newer version (1, with 9999-later)",
  );
  expect(existsSync(again.settings.dataDirectory)).toBe(false);
  writeFileSync(newer, "hello\n");
  await expect(restoreBackup({ path: newer, passphrase, settings: again.settings })).rejects.toThrow(
    "is not a platform backup",
  );
});

test("a backup of an older schema is migrated to the current one", async () => {
  const { source, emptyTarget } = await openBackupHarness();
  const older = await emptyTarget();
  const { openDatabase } = await import("../../src/foundation/db/index.ts");
  const { silentLog } = await import("../../src/foundation/telemetry/index.ts");
  const database = await openDatabase(older.settings, silentLog, "0001-spine");
  onTestFinished(database.close);
  mkdirSync(older.settings.dataDirectory, { recursive: true });
  await openVault(database.db, older.settings);
  await database.db
    .insertInto("teams")
    .values({ name: "old", data_key: Buffer.of(1) })
    .execute();
  const path = join(older.settings.dataDirectory, "..", "old-backup");
  onTestFinished(() => rmSync(path));
  const { dataDirectory, kekFile } = older.settings;
  const key = keyIn(kekFile);
  const options = { path, connection: database.connection, dataDirectory, kekFile, key, passphrase };
  await makeBackup({ ...options, platformVersion: "0", now: new Date() });
  expect(openArchive(path, { passphrase, findKey: () => key }).facts.migrations).toEqual(["0001-spine"]);
  const target = await emptyTarget();
  await restoreBackup({ path, passphrase, settings: target.settings });
  expect(await target.database.db.selectFrom("teams").select("name").execute()).toEqual([{ name: "old" }]);
  expect(Object.keys(await contentOf(target.database.db))).toEqual(Object.keys(await contentOf(source.platform.db)));
});

test("tables come after the tables they reference, whatever their names", () => {
  const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(names, fc.array(fc.tuple(fc.nat(), fc.nat())), (all, pairs) => {
      const tables: StoredTable[] = all
        .map((name) => ({ name, columns: [] }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
      const pointers = pairs
        .map(([a, b]) => [a % all.length, b % all.length] as const)
        .filter(([from, to]) => from > to)
        .map(([from, to]) => ({ from: all[from] ?? "", to: all[to] ?? "" }));
      const ordered = inDependencyOrder(tables, pointers).map(({ name }) => name);
      expect(ordered.toSorted()).toEqual(all.toSorted());
      for (const { from, to } of pointers) expect(ordered.indexOf(from)).toBeGreaterThan(ordered.indexOf(to));
    }),
    { numRuns: runs },
  );
});

const git = (directory: string, ...args: string[]): string =>
  execFileSync("git", ["-C", directory, "-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();

/** Reads them one after another, as the backup does. */
async function copyFiles(from: string, to: string, beforeStep: (step: number) => void): Promise<number> {
  let steps = 0;
  for await (const { section, entry } of listFiles(
    { dataDirectory: from, kekFile: join(from, "kek"), keys: "all" },
    ({ path }) => expect.fail(path),
  )) {
    const target = join(to, section.path);
    if (section.kind === "directory") mkdirSync(target, { recursive: true });
    if (section.kind === "file") writeFileSync(target, readFileSync(entry.address));
    beforeStep(++steps);
  }
  return steps;
}

test("a repository that receives a push while it is copied is complete and not locked", async () => {
  const folder = await temporaryDirectory();
  onTestFinished(folder.remove);
  const data = join(folder.path, "data");
  const bare = join(data, "repositories/1/sample.git");
  const clone = join(folder.path, "clone");
  mkdirSync(bare, { recursive: true });
  git(bare, "init", "--quiet", "--bare", "--initial-branch=main");
  git(folder.path, "clone", "--quiet", bare, "clone");
  const push = (name: string) => {
    writeFileSync(join(clone, "file"), name);
    git(clone, "add", "file");
    git(clone, "commit", "--quiet", "--message", name);
    git(clone, "push", "--quiet", "origin", "HEAD:main", `HEAD:refs/heads/b/${name}`);
  };
  push("first");
  writeFileSync(join(bare, "refs/heads/main.lock"), "");
  const copies = (name: string) => join(folder.path, "copies", name);
  const steps = await copyFiles(data, copies("none"), () => {});
  rmSync(join(bare, "refs/heads/main.lock"));
  expect(existsSync(join(copies("none"), "repositories/1/sample.git/refs/heads/main.lock"))).toBe(false);
  for (let at = 1; at <= steps; at++) {
    const copy = copies(String(at));
    await copyFiles(data, copy, (step) => step === at && push(`step-${at}`));
    const copied = join(copy, "repositories/1/sample.git");
    expect(() => git(copied, "rev-list", "--objects", "--all", "--quiet"), `pushed at ${at} of ${steps}`).not.toThrow();
    rmSync(copy, { recursive: true });
  }
});
