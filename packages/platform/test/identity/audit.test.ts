// The audit log: every change is recorded with its actor, and no entry can be removed or changed undetected.
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cancelRun } from "../../src/agents/index.ts";
import { actingAs, recordAuditEvent } from "../../src/foundation/db/index.ts";
import {
  exportLines,
  type Head,
  headText,
  openExport,
  readHead,
  type Verdict,
  verifyLog,
  withStoredLog,
} from "../../src/identity/audit/index.ts";
import { type AgentFixture, openFixture } from "../harness/fixture.ts";

const runs = Number(process.env.FUZZ_RUNS ?? 200);
let fixture: AgentFixture;
let folder: string;

beforeAll(async () => {
  fixture = await openFixture();
  folder = await mkdtemp(join(tmpdir(), "platform-audit-"));
});
afterAll(async () => {
  await fixture.close();
  await rm(folder, { recursive: true });
});

const verify = (known: Head[] = []): Promise<Verdict> =>
  withStoredLog(fixture.platform.db, (log) => verifyLog(log, known));

interface Entry {
  seq: number;
  actor: string;
  action: string;
  subject: string;
  data: Record<string, unknown>;
}

async function entriesAbout(subject: string): Promise<Entry[]> {
  const rows = await fixture.platform.db.selectFrom("audit_entries").select("entry").orderBy("seq").execute();
  return rows.map(({ entry }) => JSON.parse(entry)).filter((entry: Entry) => entry.subject === subject);
}

async function head(): Promise<Head> {
  const verdict = await verify();
  return verdict.kind === "whole" ? verdict.head : expect.fail(verdict.reason);
}

test("an agent is recorded from creation to deletion, with each actor and without its prompts", async () => {
  const { db } = fixture.platform;
  const { agentId, runId } = await actingAs("user:7", () => fixture.newAgent("the secret plan"));
  await actingAs("user:8", () => cancelRun(fixture.platform, runId));
  await db.updateTable("runs").set({ status: "CANCELLED" }).where("id", "=", runId).execute();
  await actingAs("operator", () => db.deleteFrom("agents").where("id", "=", agentId).execute());
  const summarize = ({ actor, action }: Entry) => `${actor} ${action}`;
  expect((await entriesAbout(agentId)).map(summarize)).toEqual(["user:7 agent.created", "operator agent.deleted"]);
  const about = await entriesAbout(runId);
  expect(about.map(summarize)).toEqual([
    "user:7 run.created",
    "user:8 run.changed",
    "platform run.changed",
    "operator run.deleted",
  ]);
  expect(about[1]?.data).toEqual({ cancel_requested_at: expect.any(String) });
  expect(about[2]?.data).toEqual({ status: "CANCELLED" });
  const { rows } = await sql<{ all: string }>`select string_agg(entry, ' ') as all from audit_entries`.execute(db);
  expect(rows[0]?.all).not.toContain("secret plan");
});

test("keys with their hashes, users, teams and limits are recorded; wrapped keys are not", async () => {
  const { db, principals } = fixture.platform;
  const { id } = await actingAs("operator", () =>
    principals.createKey({
      name: "ci",
      team: "audited",
      owner: { kind: "user", email: "ada@example.com" },
      scopes: null,
      expiresAt: null,
    }),
  );
  await principals.revokeKey(id);
  expect((await entriesAbout(id)).map(({ action, data }) => [action, Object.keys(data)])).toEqual([
    [
      "api_key.created",
      [
        ...["hash", "name", "scopes", "team_id", "user_id", "parent_id", "expires_at", "revoked_at"],
        ...["successor_id", "service_account_id"],
      ],
    ],
    ["api_key.changed", ["revoked_at"]],
  ]);
  const changed = await db
    .updateTable("users")
    .set({ role: "member", spend_limit_usd: "5" })
    .where("email", "=", "ada@example.com")
    .returning("id")
    .executeTakeFirstOrThrow();
  expect((await entriesAbout(String(changed.id))).at(-1)).toMatchObject({
    action: "user.changed",
    data: { role: "member", spend_limit_usd: 5 },
  });
});

test("rolled-back changes and lease changes are not recorded", async () => {
  const { db } = fixture.platform;
  const { runId } = await fixture.newAgent();
  const before = await head();
  await db.updateTable("runs").set({ lease_epoch: 9, lease_owner: "x" }).where("id", "=", runId).execute();
  await expect(
    db.transaction().execute(async (transaction) => {
      await transaction.deleteFrom("runs").where("id", "=", runId).execute();
      throw new Error("no");
    }),
  ).rejects.toThrow("no");
  expect(await head()).toEqual(before);
});

test("concurrent writers produce one chain", async () => {
  const before = await head();
  await Promise.all(Array.from({ length: 40 }, (_, index) => actingAs(`user:${index}`, () => fixture.newAgent())));
  const after = await head();
  expect(after.seq - before.seq).toBe(80);
  const rows = await fixture.platform.db
    .selectFrom("audit_entries")
    .select("entry")
    .where("seq", ">", before.seq)
    .execute();
  const created = rows
    .map(({ entry }) => JSON.parse(entry) as Entry)
    .filter(({ action }) => action === "agent.created");
  expect(new Set(created.map(({ actor }) => actor)).size).toBe(40);
});

test("the database itself refuses to change or remove an entry", async () => {
  const { db } = fixture.platform;
  await expect(db.updateTable("audit_entries").set({ entry: "x" }).execute()).rejects.toThrow("only added to");
  await expect(db.deleteFrom("audit_entries").execute()).rejects.toThrow("only added to");
});

/** Tampers with the log as the owner of the database could, then rolls back. */
async function tampered(change: string, known: Head[] = []): Promise<Verdict> {
  const undo = new Error("undo");
  let verdict: Verdict | undefined;
  const attempt = fixture.platform.db.transaction().execute(async (transaction) => {
    await sql.raw("alter table audit_entries disable trigger only_added_to").execute(transaction);
    await sql.raw(change).execute(transaction);
    const links = await transaction.selectFrom("audit_entries").selectAll().orderBy("seq").execute();
    const end = (await transaction.selectFrom("audit_head").select(["seq", "hash"]).executeTakeFirst()) ?? null;
    async function* all() {
      yield* links;
    }
    verdict = await verifyLog({ links: all, head: async () => end }, known);
    throw undo;
  });
  await attempt.catch((error) => expect(error).toBe(undo));
  return verdict ?? expect.fail("not verified");
}

test.each([
  ["a changed letter", "update audit_entries set entry = overlay(entry placing 'X' from 30) where seq = 3", 3],
  ["a changed hash", "update audit_entries set hash = set_byte(hash, 0, get_byte(hash, 0) # 1) where seq = 4", 4],
  ["a removed entry", "delete from audit_entries where seq = 2", 2],
  ["a removed first entry", "delete from audit_entries where seq = 1", 1],
  [
    "an entry copied over another",
    "update audit_entries a set entry = b.entry, hash = b.hash from audit_entries b where a.seq = 2 and b.seq = 3",
    2,
  ],
  ["a removed head", "delete from audit_head", null],
  ["a moved head", "update audit_head set seq = seq - 1", null],
  ["all entries removed", "delete from audit_entries", 1],
  ["the last entry removed", "delete from audit_entries where seq = (select seq from audit_head)", null],
])("%s is detected", async (_, change, seq) => {
  await recordAuditEvent(fixture.platform.db, { action: "test.happened", subject: "it", data: {} });
  const verdict = await tampered(change);
  expect(verdict).toMatchObject({ kind: "broken", ...(seq !== null && { seq }) });
});

test("a truncated log with an updated head is detected with an earlier saved head", async () => {
  await recordAuditEvent(fixture.platform.db, { action: "test.happened", subject: "last", data: {} });
  const kept = await head();
  const cut = `delete from audit_entries where seq = ${kept.seq};
    update audit_head set seq = last.seq, hash = last.hash from audit_entries last where last.seq = ${kept.seq - 1}`;
  expect(await tampered(cut)).toMatchObject({ kind: "whole" });
  expect(await tampered(cut, [kept])).toEqual({
    kind: "broken",
    seq: kept.seq,
    reason: "the last 1 entries are missing",
  });
  expect(readHead(headText(kept))).toEqual(kept);
});

test("an export is verified without a database, and every changed byte is detected", async () => {
  const path = join(folder, "audit.jsonl");
  const lines: string[] = [];
  await withStoredLog(fixture.platform.db, async (log) => {
    for await (const line of exportLines(log)) lines.push(line);
  });
  const text = lines.join("");
  const verdictOf = async (changed: string | Buffer) => {
    writeFileSync(path, changed);
    return verifyLog(openExport(path), []).then(
      ({ kind }) => kind,
      (error: Error) => error.name,
    );
  };
  expect(await verdictOf(text)).toBe("whole");
  expect(await verdictOf(lines.slice(0, -1).join(""))).toBe("broken");
  expect(await verdictOf(lines.toSpliced(-2, 1).join(""))).toBe("broken");
  for (const at of [0, 3, lines.length])
    expect(await verdictOf(lines.toSpliced(at, 0, lines.at(-1) ?? "").join(""))).toBe("UnreadableExport");
  const bytes = Buffer.from(text);
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ by;
      expect(await verdictOf(changed)).not.toBe("whole");
    }),
    { numRuns: Math.min(runs, 500) },
  );
});
