// The anchor of the audit log: rewriting the log, the anchor or both without the key-encryption key is detected.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { recordAuditEvent } from "../../src/foundation/db/index.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { type KeyEncryption, openVault, readKeyFile } from "../../src/foundation/vault/index.ts";
import { moveAnchor } from "../../src/identity/audit/advance.ts";
import { type AuditLink, emptyHead } from "../../src/identity/audit/chain.ts";
import {
  authenticateWithBoth,
  type Head,
  headText,
  keepAnchor,
  readAnchor,
  verifyLog,
  withStoredLog,
} from "../../src/identity/audit/index.ts";
import { command } from "../harness/command.ts";
import { freshDatabase } from "../harness/database.ts";
import { type AgentFixture, openFixture } from "../harness/fixture.ts";

let fixture: AgentFixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

async function head(): Promise<Head> {
  const verdict = await withStoredLog(fixture.platform.db, (log) => verifyLog(log, []));
  return verdict.kind === "whole" ? verdict.head : expect.fail(verdict.reason);
}

const anchor = () => readAnchor(fixture.platform.settings.dataDirectory, fixture.platform.vault);
const anchorPath = () => join(fixture.platform.settings.dataDirectory, "audit-head");
const recordEvent = (subject: string) =>
  recordAuditEvent(fixture.platform.db, { action: "test.happened", subject, data: {} });

/** A server that checks the anchor at its start and again when it stops. */
async function serveOnce(whileRunning: () => Promise<unknown> = async () => {}): Promise<string[]> {
  const errors: string[] = [];
  const log = { ...silentLog, error: (_: string, error: unknown) => void errors.push(String(error)) };
  const activity = await keepAnchor({ ...fixture.platform, log });
  await whileRunning();
  await activity.stop();
  return errors;
}

test("a server stores the head in its data directory, authenticated with the key-encryption key", async () => {
  expect(await serveOnce(() => recordEvent("kept"))).toEqual([]);
  expect(await anchor()).toEqual({ kind: "kept", head: await head(), begunAfter: 0 });
  const { entry } = await fixture.platform.db
    .selectFrom("audit_entries")
    .select("entry")
    .where("entry", "like", "%audit_anchor.begun%")
    .executeTakeFirstOrThrow();
  expect(JSON.parse(entry)).toMatchObject({ actor: "platform", data: { before: "none" } });
});

test("an anchor of an earlier version, without a MAC, is accepted once and recorded", async () => {
  writeFileSync(anchorPath(), `${headText(await head())}\n`);
  expect(await anchor()).toMatchObject({ kind: "unproved" });
  expect(await serveOnce(() => recordEvent("later"))).toEqual([]);
  expect(await anchor()).toEqual({ kind: "kept", head: await head(), begunAfter: 0 });
  const rows = await fixture.platform.db.selectFrom("audit_entries").select("entry").orderBy("seq", "desc").execute();
  expect(rows[1]?.entry).toContain("audit_anchor.begun");
});

test("an anchor written without the key is detected and left unchanged", async () => {
  const kept = readFileSync(anchorPath(), "utf8");
  const { seq, hash } = await head();
  const forgeries = [
    kept.replace(/^\d+/, String(seq - 1)),
    kept.replace(/.\n$/, (end) => (end.startsWith("0") ? "1\n" : "0\n")),
    `${headText({ seq, hash })}\n${"0".repeat(64)}\n`,
    `${headText({ seq, hash })}\nshort\n`,
    `${headText({ seq, hash })}\n${"é".repeat(64)}\n`,
    "nonsense",
  ];
  for (const forged of forgeries) {
    writeFileSync(anchorPath(), forged);
    expect(await anchor()).toEqual({ kind: "forged" });
    expect(await serveOnce(() => recordEvent("ignored"))).toEqual([expect.stringContaining("removed, or replaced")]);
    expect(readFileSync(anchorPath(), "utf8")).toBe(forged);
  }
  writeFileSync(anchorPath(), kept);
  expect(await serveOnce()).toEqual([]);
});

test("a running server detects that the anchor was removed or replaced", async () => {
  const kept = readFileSync(anchorPath(), "utf8");
  const replaced = [expect.stringContaining("removed, or replaced")];
  expect(await serveOnce(async () => rmSync(anchorPath()))).toEqual(replaced);
  writeFileSync(anchorPath(), kept);
  expect(await serveOnce(async () => writeFileSync(anchorPath(), kept.replace(/\n.*/s, "\n")))).toEqual(replaced);
  writeFileSync(anchorPath(), kept);
});

test("a rewritten log is detected even if its hashes are consistent", async () => {
  await serveOnce();
  const kept = readFileSync(anchorPath(), "utf8");
  const { db } = fixture.platform;
  const links = await db.selectFrom("audit_entries").selectAll().orderBy("seq").execute();
  const before = await head();
  let last = emptyHead;
  const forged = links.map(({ seq, entry: original }) => {
    const entry = original.replace('"operator"', '"intruder"').replace('"platform"', '"intruder"');
    last = { seq, hash: createHash("sha256").update(last.hash).update(entry).digest() };
    return { ...last, entry };
  });
  const rewrite = (rows: AuditLink[], end: Head) =>
    db.transaction().execute(async (transaction) => {
      await sql.raw("alter table audit_entries disable trigger only_added_to").execute(transaction);
      for (const { seq, entry, hash } of rows)
        await transaction.updateTable("audit_entries").set({ entry, hash }).where("seq", "=", seq).execute();
      await transaction.deleteFrom("audit_entries").where("seq", ">", rows.length).execute();
      await transaction.updateTable("audit_head").set(end).execute();
      await sql.raw("alter table audit_entries enable trigger only_added_to").execute(transaction);
    });
  await rewrite(forged, last);
  expect(await withStoredLog(db, (log) => verifyLog(log, []))).toMatchObject({ kind: "whole" });
  expect(await serveOnce(() => recordEvent("on top of it"))).toEqual([expect.any(String), expect.any(String)]);
  expect(readFileSync(anchorPath(), "utf8")).toBe(kept);
  await rewrite(links, before);
  expect(await serveOnce(() => rewrite(forged, last))).toEqual([expect.stringContaining("does not continue")]);
  await rewrite(links, before);
  expect(await serveOnce()).toEqual([]);
});

test("a server reports that the last entries were removed, before as many others have followed", async () => {
  await serveOnce();
  const { db } = fixture.platform;
  const kept = readFileSync(anchorPath(), "utf8");
  const links = await db.selectFrom("audit_entries").selectAll().orderBy("seq").execute();
  const [last, before] = [links.at(-1) ?? expect.fail("empty"), links.at(-2) ?? expect.fail("empty")];
  const change = (statement: string) =>
    sql
      .raw(`alter table audit_entries disable trigger only_added_to; ${statement};
      alter table audit_entries enable trigger only_added_to`)
      .execute(db);
  await change(`delete from audit_entries where seq = ${last.seq}`);
  await db.updateTable("audit_head").set({ seq: before.seq, hash: before.hash }).execute();
  expect(await serveOnce()).toEqual([expect.stringContaining("the last 1 entries are missing")]);
  expect(readFileSync(anchorPath(), "utf8")).toBe(kept);
  await db.insertInto("audit_entries").values(last).execute();
  await db.updateTable("audit_head").set({ seq: last.seq, hash: last.hash }).execute();
  expect(await serveOnce()).toEqual([]);
});

test("an entry before the first one, which readers would see, is detected", async () => {
  const { db } = fixture.platform;
  for (const seq of ["0", "-1", "-9007199254740991"]) {
    const entry = JSON.stringify({ seq: Number(seq), actor: "intruder" });
    await sql`insert into audit_entries (seq, entry, hash) values (${seq}, ${entry}, '')`.execute(db);
    expect(await withStoredLog(db, (log) => verifyLog(log, []))).toMatchObject({ kind: "broken", seq: 1 });
    await sql.raw("alter table audit_entries disable trigger only_added_to").execute(db);
    await sql`delete from audit_entries where seq < 1`.execute(db);
    await sql.raw("alter table audit_entries enable trigger only_added_to").execute(db);
  }
});

test("while the key-encryption key is rotated, the anchor can be verified at every moment", async () => {
  const { settings, db } = fixture.platform;
  const { dataDirectory, kekFile } = settings;
  const former = readKeyFile(kekFile);
  const proved = async (key: KeyEncryption | null) => (await readAnchor(dataDirectory, key)).kind;
  const other = await openFixture();
  const stranger = readKeyFile(other.platform.settings.kekFile);
  await other.close();
  expect([await proved(former), await proved(stranger)]).toEqual(["kept", "forged"]);
  await authenticateWithBoth(dataDirectory, former ?? expect.fail("no key"), stranger ?? expect.fail("no key"));
  expect([await proved(former), await proved(stranger)]).toEqual(["kept", "kept"]);
  expect(await serveOnce(() => recordEvent("later"))).toEqual([]);
  expect([await proved(former), await proved(stranger), await proved(null)]).toEqual(["kept", "forged", "unproved"]);
  expect(await withStoredLog(db, (log) => verifyLog(log, []))).toMatchObject({ kind: "whole" });
});

test("entries of a first start that fails at its signing key are proved", async () => {
  const [database, directory] = await Promise.all([freshDatabase(), temporaryDirectory()]);
  onTestFinished(async () => {
    await database.close();
    await directory.remove();
  });
  const dataDirectory = join(directory.path, "data");
  mkdirSync(dataDirectory, { mode: 0o700 });
  writeFileSync(join(dataDirectory, "config.toml"), 'signing_key_file = "missing"\n');
  const tested = { platform: { settings: { dataDirectory, databaseUrl: database.url } } } as never;
  await expect(command(tested, "serve", "--listen", "127.0.0.1:0")).rejects.toThrow(/signing key .*missing/);
  expect(await command(tested, "keys", "create", "--name", "k")).toContain("plt_");
  expect(await command(tested, "audit", "verify")).toMatch(/^whole: /);
});

test("a rewritten log is not proved by a database that denies its key and its teams", async () => {
  const [database, directory] = await Promise.all([freshDatabase(), temporaryDirectory()]);
  onTestFinished(async () => {
    await database.close();
    await directory.remove();
  });
  const { db } = database;
  const settings = { dataDirectory: directory.path };
  const kekFile = join(directory.path, "kek");
  const vault = await openVault(db, { kekFile });
  await recordAuditEvent(db, { action: "test.happened", subject: "secret", data: {} });
  expect(await moveAnchor({ db, settings, vault }, null)).toMatchObject({ kind: "whole" });
  const { seq } = await db.selectFrom("audit_head").select("seq").executeTakeFirstOrThrow();
  rmSync(join(directory.path, "audit-head"));
  await db.deleteFrom("key_encryption_keys").execute();
  await moveAnchor({ db, settings, vault: await openVault(db, { kekFile }) }, null);
  const begun = await readAnchor(directory.path, vault);
  expect(begun.kind === "kept" ? begun.begunAfter : begun.kind).toBeGreaterThanOrEqual(seq);
});

test("a rewritten log is not proved by a database that denies its key, nor are the entries before an anchor", async () => {
  const other = await openFixture();
  onTestFinished(other.close);
  const { db, settings } = other.platform;
  const { dataDirectory, kekFile } = settings;
  const forgetKey = async () => {
    await db.deleteFrom("key_encryption_keys").execute();
    return openVault(db, { kekFile });
  };
  rmSync(join(dataDirectory, "audit-head"), { force: true });
  const { seq } = await db.selectFrom("audit_head").select("seq").executeTakeFirstOrThrow();
  await moveAnchor({ db, settings, vault: await forgetKey() }, null);
  const begun = await readAnchor(dataDirectory, other.platform.vault);
  const { begunAfter } = begun.kind === "kept" ? begun : expect.fail(begun.kind);
  expect(begunAfter).toBeGreaterThanOrEqual(seq);
  await moveAnchor({ db, settings, vault: await forgetKey() }, null);
  expect(await readAnchor(dataDirectory, other.platform.vault)).toMatchObject({ kind: "kept", begunAfter });
});
