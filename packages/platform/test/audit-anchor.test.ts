// The anchor of the audit log: whoever rewrites the log, the anchor or both without the key-encryption key is found.
import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { beginning, type Link } from "../src/audit/chain.ts";
import {
  type Head,
  headText,
  keepAnchor,
  proveWithBoth,
  readAnchor,
  verifyLog,
  withStoredLog,
} from "../src/audit/index.ts";
import { noteHappening } from "../src/db/index.ts";
import { silentLog } from "../src/telemetry/index.ts";
import { type KeyEncryption, readKeyFile } from "../src/vault/index.ts";
import { openSpine, type Spine } from "./spine.ts";

let spine: Spine;
beforeAll(async () => {
  spine = await openSpine();
});
afterAll(() => spine.close());

async function head(): Promise<Head> {
  const verdict = await withStoredLog(spine.platform.db, (log) => verifyLog(log, []));
  return verdict.kind === "whole" ? verdict.head : expect.fail(verdict.reason);
}

const anchor = () => readAnchor(spine.platform.settings.dataDirectory, spine.platform.vault);
const anchorPath = () => join(spine.platform.settings.dataDirectory, "audit-head");
const happen = (subject: string) => noteHappening(spine.platform.db, { action: "test.happened", subject, data: {} });

/** A server that looked at its start, and once more at its end. */
async function serveOnce(meanwhile: () => Promise<unknown> = async () => {}): Promise<string[]> {
  const complaints: string[] = [];
  const log = { ...silentLog, error: (_: string, error: unknown) => void complaints.push(String(error)) };
  const activity = await keepAnchor({ ...spine.platform, log });
  await meanwhile();
  await activity.stop();
  return complaints;
}

test("a server keeps the head in its data directory, proved with the key-encryption key", async () => {
  expect(await serveOnce(() => happen("kept"))).toEqual([]);
  expect(await anchor()).toEqual({ kind: "kept", head: await head() });
  const { entry } = await spine.platform.db
    .selectFrom("audit_entries")
    .select("entry")
    .where("entry", "like", "%audit_anchor.begun%")
    .executeTakeFirstOrThrow();
  expect(JSON.parse(entry)).toMatchObject({ actor: "platform", data: { before: "none" } });
});

test("an anchor without a code, of an earlier version, is taken up once and noted", async () => {
  writeFileSync(anchorPath(), `${headText(await head())}\n`);
  expect(await anchor()).toMatchObject({ kind: "unproved" });
  expect(await serveOnce(() => happen("later"))).toEqual([]);
  expect(await anchor()).toEqual({ kind: "kept", head: await head() });
  const rows = await spine.platform.db.selectFrom("audit_entries").select("entry").orderBy("seq", "desc").execute();
  expect(rows[1]?.entry).toContain("audit_anchor.begun");
});

test("an anchor that somebody else wrote is found, and left as it is", async () => {
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
    expect(await serveOnce(() => happen("ignored"))).toEqual([expect.stringContaining("removed or replaced")]);
    expect(readFileSync(anchorPath(), "utf8")).toBe(forged);
  }
  writeFileSync(anchorPath(), kept);
  expect(await serveOnce()).toEqual([]);
});

test("what is removed or replaced while a server runs is found by it", async () => {
  const kept = readFileSync(anchorPath(), "utf8");
  const replaced = [expect.stringContaining("removed or replaced")];
  expect(await serveOnce(async () => rmSync(anchorPath()))).toEqual(replaced);
  writeFileSync(anchorPath(), kept);
  expect(await serveOnce(async () => writeFileSync(anchorPath(), kept.replace(/\n.*/s, "\n")))).toEqual(replaced);
  writeFileSync(anchorPath(), kept);
});

test("a log that was written anew is not vouched for, however well its hashes fit", async () => {
  await serveOnce();
  const kept = readFileSync(anchorPath(), "utf8");
  const { db } = spine.platform;
  const links = await db.selectFrom("audit_entries").selectAll().orderBy("seq").execute();
  const before = await head();
  let last = beginning;
  const forged = links.map(({ seq, entry: told }) => {
    const entry = told.replace('"operator"', '"nobody!!"').replace('"platform"', '"nobody!!"');
    last = { seq, hash: createHash("sha256").update(last.hash).update(entry).digest() };
    return { ...last, entry };
  });
  const rewrite = (rows: Link[], end: Head) =>
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
  expect(await serveOnce(() => happen("on top of it"))).toEqual([expect.any(String), expect.any(String)]);
  expect(readFileSync(anchorPath(), "utf8")).toBe(kept);
  await rewrite(links, before);
  expect(await serveOnce(() => rewrite(forged, last))).toEqual([expect.stringContaining("does not go on")]);
  await rewrite(links, before);
  expect(await serveOnce()).toEqual([]);
});

test("with a new key-encryption key the anchor stays proved, at every moment of the change", async () => {
  const { settings, db } = spine.platform;
  const { dataDirectory, kekFile } = settings;
  const former = readKeyFile(kekFile);
  const proved = async (key: KeyEncryption | null) => (await readAnchor(dataDirectory, key)).kind;
  const other = await openSpine();
  const stranger = readKeyFile(other.platform.settings.kekFile);
  await other.close();
  expect([await proved(former), await proved(stranger)]).toEqual(["kept", "forged"]);
  await proveWithBoth(dataDirectory, former ?? expect.fail("no key"), stranger ?? expect.fail("no key"));
  expect([await proved(former), await proved(stranger)]).toEqual(["kept", "kept"]);
  expect(await serveOnce(() => happen("later"))).toEqual([]);
  expect([await proved(former), await proved(stranger), await proved(null)]).toEqual(["kept", "forged", "unproved"]);
  expect(await withStoredLog(db, (log) => verifyLog(log, []))).toMatchObject({ kind: "whole" });
});
