// Whatever is done to the audit log is found: in the database, and in an exported file.
import { createHash } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { beginning, type Link } from "../src/audit/chain.ts";
import { type AuditLog, exportLines, type Head, openExport, verifyLog, withStoredLog } from "../src/audit/index.ts";
import { openSpine, type Spine } from "./spine.ts";

const runs = Number(process.env.FUZZ_RUNS ?? 200);

interface Kept {
  links: Link[];
  head: Head;
}

let spine: Spine;
let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let whole: Kept;

beforeAll(async () => {
  [spine, folder] = [await openSpine(), await temporaryDirectory()];
  for (let agent = 0; agent < 6; agent++) await spine.newAgent();
  whole = await withStoredLog(spine.platform.db, async (log) => ({
    links: await collected(log.links()),
    head: (await log.head()) ?? expect.fail("no head"),
  }));
});
afterAll(async () => {
  await spine.close();
  await folder.remove();
});

const logOf = ({ links, head }: Kept): AuditLog => ({
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

/** Numbers as the database would give them back, so that a second look sees rows in their order. */
const inOrder = (links: Link[]): Link[] => links.toSorted((left, right) => left.seq - right.seq);

type Attack = (kept: Kept) => Kept;
const place = fc.nat(200);
const bit = fc.integer({ min: 0, max: 7 }).map((shift) => 1 << shift);

const changeOf = (change: (link: Link, at: number, by: number) => Link) =>
  fc.tuple(place, place, bit).map(
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
  "a row deleted": place.map((row) => ({ links, head }) => ({ head, links: links.toSpliced(row % links.length, 1) })),
  "a row doubled": place.map((row) => ({ links, head }) => {
    const at = row % links.length;
    return { head, links: links.toSpliced(at, 0, ...links.slice(at, at + 1)) };
  }),
  "the tail cut off": place.map((count) => ({ links, head }) => ({
    head,
    links: links.slice(0, links.length - 1 - (count % links.length)),
  })),
  "two rows swapped": fc.tuple(place, place).map(([one, other]) => ({ links, head }) => {
    const [left, right] = [one % links.length, other % links.length];
    fc.pre(left !== right);
    const entryOf = (index: number) => links[index === left ? right : index === right ? left : index] as Link;
    return { head, links: links.map(({ seq }, index) => ({ ...entryOf(index), seq })) };
  }),
  "the mark of the end changed": fc.tuple(place, bit).map(([at, by]) => ({ links, head }) => ({
    links,
    head: { ...head, hash: flipped(head.hash, at, by) },
  })),
  "the mark of the end moved": place.map((by) => ({ links, head }) => ({
    links,
    head: { ...head, seq: head.seq + by + 1 },
  })),
};

/** As somebody would leave it who knows how hashes are made: numbers, hashes and the mark of the end fit again. */
function rechained({ links }: Kept): Kept {
  let last = beginning;
  const forged = links.map(({ entry: told }, index) => {
    const seq = index + 1;
    const entry = told.replace(/"seq": \d+/, `"seq": ${seq}`);
    const hash = createHash("sha256").update(last.hash).update(entry).digest();
    last = { seq, hash };
    return { seq, entry, hash };
  });
  return { links: forged, head: last };
}

/** In a file as well: a line that cannot be read at all is found too. */
async function judgements(kept: Kept, known: Head[]): Promise<string[]> {
  const path = join(folder.path, "export.jsonl");
  const lines = await collected(exportLines(logOf(kept)));
  writeFileSync(path, lines.join(""));
  const verdicts = [
    verifyLog(logOf({ ...kept, links: inOrder(kept.links) }), known),
    verifyLog(openExport(path), known),
  ];
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

test("left alone it is whole", async () => {
  expect(whole.links.length).toBeGreaterThan(12);
  expect(await judgements(whole, [whole.head])).toEqual(["whole", "whole"]);
  expect(await judgements(rechained(whole), [whole.head])).toEqual(["whole", "whole"]);
});

test.each(Object.keys(attacks))("%s is found, by the log itself", async (name) => {
  await fc.assert(
    fc.asyncProperty(attacks[name] as fc.Arbitrary<Attack>, async (attack) => {
      expect(await judgements(attack(whole), [])).not.toContain("whole");
    }),
    { numRuns: Math.min(runs, 300) },
  );
});

test.each(Object.keys(attacks).filter((name) => !/hash|number|mark/.test(name)))(
  "%s is found by the head that was kept, also where every hash behind it was made anew",
  async (name) => {
    await fc.assert(
      fc.asyncProperty(attacks[name] as fc.Arbitrary<Attack>, async (attack) => {
        const forged = rechained(attack(whole));
        // What is added behind the head that was kept leaves the log before it as it was.
        fc.pre(!forged.links[whole.head.seq - 1]?.hash.equals(whole.head.hash));
        expect(await judgements(forged, [whole.head])).not.toContain("whole");
      }),
      { numRuns: Math.min(runs, 300) },
    );
  },
);
