import { expect, test } from "vitest";
import { plantRepository } from "./planted.ts";
import { findTableProblems } from "./tables.ts";

const plant = (files: Record<string, string>) =>
  plantRepository(
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`packages/platform/src/${path}`, text])),
  );

const owner = {
  "runs/store.ts": 'db.insertInto("runs").values({}); db.updateTable("runs"); sql`delete from runs where a`;',
};

test("each table is written by its owner only", () => {
  expect(findTableProblems()).toEqual([]);
});

test.each([
  ["agents/a.ts", 'tx.insertInto("runs").values({})', "agents inserts into runs, which runs owns"],
  ["agents/a.ts", 'tx.updateTable("runs").set({})', "agents updates runs, which runs owns"],
  ["agents/b/a.ts", 'tx.deleteFrom("runs")', "agents deletes from runs, which runs owns"],
  ["pages/a.ts", "sql`with a as (\n  update runs set b = 1\n) select 1`", "pages updates runs, which runs owns"],
  ["pages/a.ts", "sql<{ a: 1 }>`insert into runs (a) select 1`", "pages inserts into runs"],
  ["serve.ts", "sql`delete from runs`", "the program deletes from runs, which runs owns"],
  ["pages/a.ts", 'tx.updateTable("audit_head")', "pages updates audit_head, which no group owns"],
  ["runs/b.ts", "tx.deleteFrom(table)", "deleteFrom(table) must name its table as a text"],
])("%s with %s is refused", (path, text, problem) => {
  using planted = plant({ ...owner, [path]: text });
  expect(findTableProblems(planted.root)).toContainEqual(expect.stringContaining(problem));
});

test("reading and locking others' tables is allowed, and so are migrations and restores", () => {
  using planted = plant({
    ...owner,
    "agents/a.ts": 'tx.selectFrom("runs"); sql`select id from runs for update of runs`; sql`select 1 for update`;',
    "foundation/db/migrations/0001.ts": "sql`update runs set a = 1`",
    "operations/backup/restore.ts": "sql`insert into runs select 1`",
  });
  expect(findTableProblems(planted.root)).toEqual([]);
});
