// Every manipulation of the audit log is detected, in the database and in an exported file.
import { createHash } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import fc from "fast-check";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AuditLink, emptyHead } from "../../src/identity/audit/chain.ts";
import {
  type AuditLog,
  exportLines,
  type Head,
  openExport,
  verifyLog,
  withStoredLog,
} from "../../src/identity/audit/index.ts";
import { readLinks } from "../../src/identity/audit/stored.ts";
import { type AgentFixture, openFixture } from "../harness/fixture.ts";

const runs = Number(process.env.FUZZ_RUNS ?? 200);

interface StoredLog {
  links: AuditLink[];
  head: Head;
}

let fixture: AgentFixture;
let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let whole: StoredLog;

beforeAll(async () => {
  [fixture, folder] = [await openFixture(), await temporaryDirectory()];
  for (let agent = 0; agent < 6; agent++) await fixture.newAgent();
  whole = await withStoredLog(fixture.platform.db, async (log) => ({
    links: await collected(log.links()),
    head: (await log.head()) ?? expect.fail("no head"),
  }));
});
afterAll(async () => {
  await fixture.close();
  await folder.remove();
});

const logOf = ({ links, head }: StoredLog): AuditLog => ({
  async *links() {
    yield* links;
  },
  head: async () => head,
});

async function collected<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const flipped = (bytes: Buffer, at: number, by: number): Buffer => {
  const changed = Buffer.from(bytes);
  changed[at % bytes.length] = (changed[at % bytes.length] ?? 0) ^ by;
  return changed;
};

/** Sorted by number, as the database returns the rows. */
const inOrder = (links: AuditLink[]): AuditLink[] => links.toSorted((left, right) => left.seq - right.seq);

type Attack = (log: StoredLog) => StoredLog;
const position = fc.nat(200);
const bit = fc.integer({ min: 0, max: 7 }).map((shift) => 1 << shift);

const changeOf = (change: (link: AuditLink, at: number, by: number) => AuditLink) =>
  fc.tuple(position, position, bit).map(
    ([row, at, by]): Attack =>
      ({ links, head }) => ({
        head,
        links: links.map((link, index) => (index === row % links.length ? change(link, at, by) : link)),
      }),
  );

const attacks: Record<string, fc.Arbitrary<Attack>> = {
  "an entry changed": changeOf((link, at, by) => ({
    ...link,
    entry: flipped(Buffer.from(link.entry), at, by).toString("latin1"),
  })),
  "a hash changed": changeOf((link, at, by) => ({ ...link, hash: flipped(link.hash, at, by) })),
  "a number changed": changeOf((link, at) => ({ ...link, seq: link.seq + at + 1 })),
  "a row deleted": position.map((row) => ({ links, head }) => ({
    head,
    links: links.toSpliced(row % links.length, 1),
  })),
  "a row doubled": position.map((row) => ({ links, head }) => {
    const at = row % links.length;
    return { head, links: links.toSpliced(at, 0, ...links.slice(at, at + 1)) };
  }),
  "the tail cut off": position.map((count) => ({ links, head }) => ({
    head,
    links: links.slice(0, links.length - 1 - (count % links.length)),
  })),
  "two rows swapped": fc.tuple(position, position).map(([one, other]) => ({ links, head }) => {
    const [left, right] = [one % links.length, other % links.length];
    fc.pre(left !== right);
    const entryOf = (index: number) => links[index === left ? right : index === right ? left : index] as AuditLink;
    return { head, links: links.map(({ seq }, index) => ({ ...entryOf(index), seq })) };
  }),
  "the head changed": fc.tuple(position, bit).map(([at, by]) => ({ links, head }) => ({
    links,
    head: { ...head, hash: flipped(head.hash, at, by) },
  })),
  "the head moved": position.map((by) => ({ links, head }) => ({
    links,
    head: { ...head, seq: head.seq + by + 1 },
  })),
};

/** The log as an attacker who can compute hashes leaves it: numbers, hashes and head are consistent again. */
function rechained({ links }: StoredLog): StoredLog {
  let last = emptyHead;
  const forged = links.map(({ entry: original }, index) => {
    const seq = index + 1;
    const entry = original.replace(/"seq": \d+/, `"seq": ${seq}`);
    const hash = createHash("sha256").update(last.hash).update(entry).digest();
    last = { seq, hash };
    return { seq, entry, hash };
  });
  return { links: forged, head: last };
}

/** Verifies the log and its exported file; a line that cannot be parsed counts as detected. */
async function verdictsOf(log: StoredLog, known: Head[]): Promise<string[]> {
  const path = join(folder.path, "export.jsonl");
  const lines = await collected(exportLines(logOf(log)));
  writeFileSync(path, lines.join(""));
  const verdicts = [verifyLog(logOf({ ...log, links: inOrder(log.links) }), known), verifyLog(openExport(path), known)];
  const kinds = await Promise.all(
    verdicts.map((verdict) =>
      verdict.then(
        ({ kind }) => kind,
        () => "unreadable",
      ),
    ),
  );
  rmSync(path);
  return kinds;
}

test("an unchanged log is whole", async () => {
  expect(whole.links.length).toBeGreaterThan(12);
  expect(await verdictsOf(whole, [whole.head])).toEqual(["whole", "whole"]);
  expect(await verdictsOf(rechained(whole), [whole.head])).toEqual(["whole", "whole"]);
});

test.each(Object.keys(attacks))("%s: detected from the log alone", async (name) => {
  await fc.assert(
    fc.asyncProperty(attacks[name] as fc.Arbitrary<Attack>, async (attack) => {
      expect(await verdictsOf(attack(whole), [])).not.toContain("whole");
    }),
    { numRuns: Math.min(runs, 300) },
  );
});

test.each(Object.keys(attacks).filter((name) => !/hash|number|head/.test(name)))(
  "%s: detected with a saved head, even if all following hashes were recomputed",
  async (name) => {
    await fc.assert(
      fc.asyncProperty(attacks[name] as fc.Arbitrary<Attack>, async (attack) => {
        const forged = rechained(attack(whole));
        // Entries appended after the saved head leave the log before it unchanged.
        fc.pre(!forged.links[whole.head.seq - 1]?.hash.equals(whole.head.hash));
        expect(await verdictsOf(forged, [whole.head])).not.toContain("whole");
      }),
      { numRuns: Math.min(runs, 300) },
    );
  },
);

test("an entry that has the number of another one is found, wherever it stands in the log", async () => {
  const { db } = fixture.platform;
  const found = db.transaction().execute(async (tx) => {
    await sql`alter table audit_entries drop constraint audit_entries_pkey`.execute(tx);
    await sql`alter table audit_entries disable trigger all`.execute(tx);
    await sql`delete from audit_entries`.execute(tx);
    const rows = Array.from({ length: 1_001 }, (_, index) => Math.min(index + 1, 1_000));
    for (const seq of rows)
      await tx
        .insertInto("audit_entries")
        .values({ ...(whole.links[0] ?? expect.fail()), seq })
        .execute();
    const links = await collected(readLinks(tx, null));
    throw new RolledBack(links.map(({ seq }) => seq).slice(-3));
  });
  await expect(found).rejects.toMatchObject({ numbers: [999, 1_000, 1_000] });
});

/** Leaves the log as it was. */
class RolledBack extends Error {
  readonly numbers: number[];
  constructor(numbers: number[]) {
    super("rolled back");
    this.numbers = numbers;
  }
}
