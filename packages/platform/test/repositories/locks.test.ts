import { afterAll, beforeAll, expect, test } from "vitest";
import { openLocks } from "../../src/repositories/workspaces/index.ts";
import { freshDatabase, type TestDatabase } from "../harness/database.ts";
import { never } from "./git-harness.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.close());

test("a lock excludes other servers and other work of the same server", async () => {
  const servers = [openLocks(database.db), openLocks(database.db)];
  let inside = 0;
  let maxInside = 0;
  const order: number[] = [];
  const work = (name: number) => async () => {
    inside += 1;
    maxInside = Math.max(maxInside, inside);
    await database.db.selectFrom("teams").selectAll().execute();
    order.push(name);
    inside -= 1;
  };
  await Promise.all(
    servers.flatMap((locks) => [1, 2, 3, 4].map((name) => locks.hold({ name: "one" }, work(name), never()))),
  );
  expect(maxInside).toBe(1);
  expect(order).toHaveLength(8);
});

test("different names do not block each other, and connections remain for other work", async () => {
  const locks = openLocks(database.db);
  const names = Array.from({ length: 30 }, (_, index) => `name-${index}`);
  let inside = 0;
  let maxInside = 0;
  const query = () => database.db.selectFrom("teams").selectAll().execute();
  const hold = (name: string) =>
    locks.hold(
      { name },
      async () => {
        inside += 1;
        maxInside = Math.max(maxInside, inside);
        await query();
        inside -= 1;
      },
      never(),
    );
  await Promise.all(names.map(hold));
  expect(maxInside).toBeGreaterThan(1);
  expect(maxInside).toBeLessThan(10);
});

test("a lock is released when the work fails, and an aborted waiter stops waiting", async () => {
  const [first, second] = [openLocks(database.db), openLocks(database.db)];
  await expect(first.hold({ name: "two" }, () => Promise.reject(new Error("failed")), never())).rejects.toThrow(
    "failed",
  );
  const stop = new AbortController();
  await first.hold(
    { name: "two" },
    async () => {
      const waiting = second.hold({ name: "two" }, async () => "held", stop.signal);
      stop.abort(new Error("stopped"));
      await expect(waiting).rejects.toThrow();
    },
    never(),
  );
  expect(await second.hold({ name: "two" }, async () => "held", never())).toBe("held");
});

test("an aborted waiter of the same server leaves the queue without blocking those behind it", async () => {
  const locks = openLocks(database.db);
  let free = () => {};
  const isFree = new Promise<void>((resolve) => {
    free = resolve;
  });
  const names = Array.from({ length: 20 }, (_, index) => `slow-${index}`);
  const slow = names.map((name) => locks.hold({ name }, () => isFree, never()));
  const stop = new AbortController();
  const [sameName, anotherName] = ["slow-0", "patient"].map((name) =>
    locks.hold({ name }, async () => "held", stop.signal),
  );
  stop.abort(new Error("stopped"));
  await expect(sameName).rejects.toThrow("stopped");
  await expect(anotherName).rejects.toThrow("stopped");
  await expect(locks.hold({ name: "late" }, async () => "held", stop.signal)).rejects.toThrow("stopped");
  free();
  await Promise.all(slow);
  expect(await locks.hold({ name: "slow-0" }, async () => "held", never())).toBe("held");
});

test("work that has begun is awaited, even after an abort", async () => {
  const locks = openLocks(database.db);
  const stop = new AbortController();
  const order: string[] = [];
  await locks.hold(
    { name: "begun" },
    async () => {
      stop.abort(new Error("stopped"));
      await database.db.selectFrom("teams").selectAll().execute();
      order.push("work");
    },
    stop.signal,
  );
  order.push("after");
  expect(order).toEqual(["work", "after"]);
});

test("work that is given up while its lock is asked for does not begin", async () => {
  const locks = openLocks(database.db);
  const begun: number[] = [];
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  for (let turns = 0; turns < 40; turns += 1) {
    const stop = new AbortController();
    const work = async () => void (stop.signal.aborted && begun.push(turns));
    const held = locks.hold({ name: "given up" }, work, stop.signal).catch(() => {});
    for (let waited = 0; waited < turns; waited += 1) await turn();
    stop.abort();
    await held;
  }
  expect(begun).toEqual([]);
});
