// Restore of archives that an attacker made or changed: refused before anything is written.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import fc from "fast-check";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import type { Settings } from "../../src/foundation/config/index.ts";
import { claimNodeId, markRestore, migrationNames } from "../../src/foundation/db/index.ts";
import { migrate } from "../../src/foundation/db/migrate.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { makeKeyFile, readKeyFile } from "../../src/foundation/vault/key-file.ts";
import { allowedEvents } from "../../src/operations/backup/contents.ts";
import { BackupError, restoreBackup } from "../../src/operations/backup/index.ts";
import { openArchive } from "../../src/operations/backup/read-archive.ts";
import { command } from "../harness/command.ts";
import { emptyDatabase, type TestDatabase } from "../harness/database.ts";
import { testSettings } from "../harness/settings.ts";
import { type Forgery, forgeArchive } from "./archive-forger.ts";

const runs = Number(process.env.FUZZ_RUNS ?? 200);
const passphrase = "correct horse battery staple";

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let database: TestDatabase;
/** The operator's key, which is not in the data directory. */
let kekFile: string;
let archive: string;
let targets = 0;
let settings: Settings;

beforeAll(async () => {
  [folder, database] = [await temporaryDirectory(), await emptyDatabase()];
  kekFile = join(folder.path, "kek");
  archive = join(folder.path, "archive");
  makeKeyFile(kekFile);
});
afterAll(async () => {
  await database.close();
  await folder.remove();
});
beforeEach(() => {
  targets += 1;
  settings = { ...testSettings(join(folder.path, `target-${targets}`)), kekFile, databaseUrl: database.url };
});

const facts = () => ({
  formatVersion: 2,
  platformVersion: "1",
  createdAt: "2026-01-31T12:00:00.000Z",
  migrations: ["0001-spine"],
  dataDirectory: "/srv/platform",
  kekFingerprint: readKeyFile(kekFile)?.fingerprint,
});

const restore = (given: string | null) =>
  restoreBackup({ path: archive, passphrase: given, settings, signal: new AbortController().signal });

/** An archive that only the contents speak against: authenticated with the operator's key. */
const forge = (sections: Forgery["sections"], more: Partial<Forgery> = {}) =>
  forgeArchive(archive, { facts: facts(), sections, kekFile, ...more });

async function expectNothingWritten(): Promise<void> {
  expect(existsSync(settings.dataDirectory)).toBe(false);
  expect((await sql`select to_regclass('teams') as there`.execute(database.db)).rows).toEqual([{ there: null }]);
}

const team: [unknown, string] = [
  { kind: "table", name: "teams", columns: ["id", "name", "data_key"] },
  "1\tx\t\\\\x01\n",
];

test.each([1, 2])(
  "an archive of version %i that says it is not sealed is refused if a passphrase is given",
  async (version) => {
    settings = { ...settings, kekFile: join(settings.dataDirectory, "kek") };
    const sections: Forgery["sections"] = [team, [{ kind: "kek" }, readFileSync(kekFile)]];
    forge(sections, { facts: { ...facts(), formatVersion: version } });
    await expect(restore(passphrase)).rejects.toThrow(/is not sealed, but a passphrase was given/);
    await expectNothingWritten();
  },
);

test("an archive without a passphrase is refused if another key or no key authenticates it", async () => {
  const stranger = join(folder.path, "stranger");
  makeKeyFile(stranger);
  forge([team], { kekFile: stranger });
  await expect(restore(null)).rejects.toThrow("was not made with the key-encryption key of this platform");
  forgeArchive(archive, { facts: facts(), sections: [team] });
  await expect(restore(null)).rejects.toThrow("its contents were changed");
  await expectNothingWritten();
});

test("an archive of the former version without a passphrase is refused, because nothing authenticates it", async () => {
  forgeArchive(archive, { facts: { ...facts(), formatVersion: 1 }, sections: [team] });
  await expect(restore(null)).rejects.toThrow("without a passphrase: nothing shows whether it was changed");
  await expectNothingWritten();
});

const directory = (path: string, mode = 0o700): [unknown] => [{ kind: "directory", path, mode }];
const file = (path: string, mode = 0o600): [unknown, string] => [{ kind: "file", path, mode }, "x"];

test.each<[string, Forgery["sections"]]>([
  ["the key-encryption key unsealed", [[{ kind: "kek" }, "x"]]],
  ["a signing key unsealed", [file("signing-key")]],
  ["an ssh key unsealed", [directory("ssh"), file("ssh/id")]],
  ["configuration", [file("config.toml")]],
  ["configuration of ssh", [directory("ssh"), file("ssh/config")]],
  ["a file of the database", [directory("postgres"), file("postgres/standby.signal")]],
  ["an anchor as a file", [file("audit-head")]],
  ["a path with ..", [directory("workspaces"), file("workspaces/../config.toml")]],
  ["an absolute path", [file("/etc/passwd")]],
  ["a path with a zero byte", [directory("workspaces"), file("workspaces/a\0b")]],
  ["a name that no kernel takes", [directory("workspaces"), file(`workspaces/${"a".repeat(256)}`)]],
  ["a set-id file", [directory("workspaces"), file("workspaces/a", 0o4755)]],
  ["a sticky directory", [directory("workspaces", 0o1777)]],
  ["a link in place of a directory", [[{ kind: "link", path: "workspaces", target: "/etc" }]]],
  [
    "a file below a link",
    [directory("workspaces"), [{ kind: "link", path: "workspaces/a", target: "/etc" }], file("workspaces/a/b")],
  ],
  ["a file twice", [directory("workspaces"), file("workspaces/a"), file("workspaces/a")]],
  ["a file before its directory", [file("workspaces/a"), directory("workspaces")]],
  ["data for a directory", [[{ kind: "directory", path: "workspaces", mode: 0o700 }, "x"]]],
  ["data for nothing", [[{ kind: "audit-head" }, Buffer.alloc(5000)]]],
  ["a table twice", [team, team]],
  [
    "more tables than a platform has",
    Array.from({ length: 2_001 }, (_, at) => [{ kind: "table", name: `table${at}`, columns: ["id"] }]),
  ],
  [
    "more columns than a platform has",
    Array.from({ length: 21 }, (_, at) => [{ kind: "table", name: `table${at}`, columns: Array(1_000).fill("id") }]),
  ],
  ["an unknown kind of section", [[{ kind: "command", name: "rm" }]]],
  ["a statement for a name", [[{ kind: "table", name: "teams; drop table users", columns: ["id"] }]]],
])("an archive with %s is refused before anything is written", async (_, sections) => {
  forge(sections);
  await expect(restore(null)).rejects.toMatchObject({ name: "BackupError" });
  await expectNothingWritten();
});

test("nothing of an archive without a passphrase is kept before its end authenticates it", async () => {
  forgeArchive(archive, {
    facts: facts(),
    sections: [directory("workspaces"), file("workspaces/a"), file("workspaces/a")],
  });
  await expect(restore(null)).rejects.toThrow("its contents were changed");
});

test("a database that a server uses is not filled, though it has no team yet", async () => {
  const target = await ownDatabase();
  await migrate(target.db, { url: target.url });
  const server = await claimNodeId({ url: target.url }, silentLog);
  onTestFinished(() => server.release());
  forge([team], { facts: { ...facts(), migrations: migrationNames() } });
  await expect(restore(null)).rejects.toThrow("A server is running on this database. Stop it");
  expect((await sql`select id from teams`.execute(target.db)).rows).toEqual([]);
});

test("a half restored database is refused with another data directory too", async () => {
  const target = await ownDatabase();
  mkdirSync(settings.dataDirectory, { recursive: true, mode: 0o700 });
  // What keeps the first directory of the archive from being created, once the tables are filled.
  settings = { ...settings, kekFile: join(settings.dataDirectory, "workspaces") };
  copyFileSync(kekFile, settings.kekFile);
  forge([team, directory("workspaces"), file("workspaces/a")]);
  await expect(restore(null)).rejects.toThrow("EEXIST");
  expect((await sql`select name from teams`.execute(target.db)).rows).toEqual([{ name: "x" }]);
  const other = { ...settings, dataDirectory: join(folder.path, "other"), kekFile };
  for (const args of [
    ["backup", `${archive}-new`],
    ["keys", "list"],
    ["audit", "verify"],
  ])
    await expect(command({ platform: { settings: other } } as never, ...args)).rejects.toThrow(
      "The restore into this database is in progress or was interrupted",
    );
  settings = other;
  await expect(restore(null)).rejects.toThrow("The restore into this database is in progress or was interrupted");
});

test.each<[string, Forgery["sections"]]>([
  ["table", [[{ kind: "table", name: "intruders", columns: ["id"] }, "1\n"]]],
  ["column", [[{ kind: "table", name: "teams", columns: ["id", "is_root"] }, "1\tt\n"]]],
  ["sequence", [[{ kind: "sequence", name: "intruders_id_seq", lastValue: "1" }]]],
])("an unknown %s is refused, and no row is written", async (_, unknown) => {
  const target = await ownDatabase();
  forge(unknown);
  await expect(restore(null)).rejects.toThrow("which its version does not have");
  expect((await sql`select id from teams`.execute(target.db)).rows).toEqual([]);
});

test.each(["sessions", "login_links"])("rows of %s are refused: none is revived", async (name) => {
  await ownDatabase();
  forge([[{ kind: "table", name, columns: ["id"] }, ""]], { facts: { ...facts(), migrations: migrationNames() } });
  await expect(restore(null)).rejects.toThrow(`The backup contains ${name}.id, which`);
});

test.each(["0", "9999999999999999999"])(
  "a sequence that continues at %s ends the restore with the reason",
  async (at) => {
    await ownDatabase();
    forge([[{ kind: "sequence", name: "teams_id_seq", lastValue: at }]]);
    const refusal = { name: "BackupError", message: expect.stringContaining("refused the sequence teams_id_seq") };
    await expect(restore(null)).rejects.toMatchObject(refusal);
  },
);

test("rows that the database refuses end the restore with its reason", async () => {
  const target = await ownDatabase();
  forge([team, [{ kind: "table", name: "users", columns: ["id", "team_id", "email", "role"] }, "x\n"]]);
  await expect(restore(null)).rejects.toThrow("The database refused rows of users: invalid input syntax");
  expect((await sql`select id from teams`.execute(target.db)).rows).toEqual([]);
});

async function ownDatabase(): Promise<TestDatabase> {
  const own = await emptyDatabase();
  onTestFinished(own.close);
  settings = { ...settings, databaseUrl: own.url };
  return own;
}

test("a sealed archive of the former version is restored without files and modes that are not the platform's", async () => {
  const target = await ownDatabase();
  settings = { ...settings, kekFile: join(settings.dataDirectory, "kek") };
  const sections: Forgery["sections"] = [
    team,
    ...[directory("lost+found"), file("lost+found/a"), file("config.toml")],
    ...[directory("workspaces", 0o1777), file("workspaces/a", 0o6755)],
    [{ kind: "kek" }, readFileSync(kekFile)],
  ];
  const former = { ...facts(), formatVersion: 1 };
  forgeArchive(archive, { facts: former, sections, passphrase });
  expect((await restore(passphrase)).leftOut).toEqual(["lost+found", "config.toml"]);
  const at = (path: string) => join(settings.dataDirectory, path);
  expect([existsSync(at("lost+found")), existsSync(at("config.toml"))]).toEqual([false, false]);
  expect([statSync(at("workspaces")).mode & 0o7777, statSync(at("workspaces/a")).mode & 0o7777]).toEqual([
    0o777, 0o755,
  ]);
  expect((await sql`select name from teams`.execute(target.db)).rows).toEqual([{ name: "x" }]);
});

test("a pipe is not read as an archive", async () => {
  execFileSync("mkfifo", [join(folder.path, "pipe")]);
  const reading = restoreBackup({
    path: join(folder.path, "pipe"),
    passphrase: null,
    settings,
    signal: new AbortController().signal,
  });
  await expect(reading).rejects.toThrow("is not a regular file");
  await expectNothingWritten();
});

test("any member of the header of a sealed archive is authenticated", async () => {
  forge([team, [{ kind: "kek" }, readFileSync(kekFile)]], { passphrase });
  const [line = "", ...rest] = readFileSync(archive, "latin1").split("\n");
  for (const change of [{ dataDirectory: "/etc" }, { createdAt: "2020-01-01T00:00:00.000Z" }, { formatVersion: 1 }]) {
    const header = JSON.stringify({ ...JSON.parse(line), ...change });
    writeFileSync(archive, [header, ...rest].join("\n"), "latin1");
    await expect(restore(passphrase)).rejects.toThrow("its contents were changed");
  }
  await expectNothingWritten();
});

const words = fc.constantFrom(
  "workspaces",
  "artifacts",
  "ssh",
  "id",
  "a",
  "..",
  ".",
  "",
  "config.toml",
  "kek",
  "postgres",
);
const path = fc.oneof(
  fc.array(words, { maxLength: 4 }).map((names) => names.join("/")),
  fc.string(),
);
const mode = fc.oneof(fc.integer({ min: 0, max: 0o7777 }), fc.constantFrom(0o600, 0o700), fc.anything());
const section = fc.oneof(
  fc.record({ kind: fc.constantFrom("file", "directory"), path, mode }),
  fc.record({ kind: fc.constant("link"), path, target: fc.string() }),
  fc.record({ kind: fc.constant("table"), name: fc.string(), columns: fc.array(fc.string()) }),
  fc.record({ kind: fc.constantFrom("kek", "audit-head", "end") }),
  fc.jsonValue(),
);

test("whatever an archive contains, the reader accepts only plain paths of the platform, and refuses the rest by name", async () => {
  const signal = new AbortController().signal;
  const accepted = /^(?:artifacts|workspaces|ssh)(?:$|\/(?!.*(?:^|\/)\.{0,2}(?:\/|$)))/;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(section, fc.option(fc.string(), { nil: undefined }))), async (sections) => {
      forge(sections);
      const findKey = () => readKeyFile(kekFile) ?? expect.fail("no key");
      try {
        for await (const event of allowedEvents(openArchive(archive, { passphrase: null, findKey }), signal))
          if (event.kind === "section" && "path" in event.section) expect(event.section.path).toMatch(accepted);
      } catch (error) {
        expect(error).toBeInstanceOf(BackupError);
        expect((error as Error).message).not.toMatch(/\p{Cc}/u);
      }
    }),
    { numRuns: runs },
  );
});

test("whatever bytes a file has, the reader refuses it as a backup", async () => {
  const signal = new AbortController().signal;
  forge([directory("workspaces"), file("workspaces/a")]);
  const bytes = readFileSync(archive);
  const begin = fc.nat({ max: bytes.length });
  await fc.assert(
    fc.asyncProperty(begin, fc.uint8Array(), fc.boolean(), async (at, junk, isEnd) => {
      const changed = Buffer.concat([bytes.subarray(0, at), junk, isEnd ? Buffer.alloc(0) : bytes.subarray(at)]);
      fc.pre(!changed.equals(bytes));
      writeFileSync(archive, changed);
      const read = async () => {
        const findKey = () => readKeyFile(kekFile) ?? expect.fail("no key");
        for await (const event of openArchive(archive, { passphrase: null, findKey }).events(signal)) void event;
      };
      await expect(read()).rejects.toBeInstanceOf(BackupError);
    }),
    { numRuns: runs },
  );
});

test("no command works on a directory whose restore was interrupted: a backup of it would look whole", async () => {
  mkdirSync(settings.dataDirectory, { recursive: true, mode: 0o700 });
  markRestore(settings.dataDirectory);
  const tested = { platform: { settings } } as never;
  for (const args of [
    ["backup", `${archive}-new`],
    ["keys", "create", "--name", "k"],
    ["rotate-kek"],
    ["audit", "verify"],
  ])
    await expect(command(tested, ...args)).rejects.toThrow(/in progress or was interrupted/);
});
