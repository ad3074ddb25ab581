// The time of the database after this machine was suspended.
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { expect, onTestFinished, test, vi } from "vitest";
import { openDatabaseClock } from "../../src/foundation/db/clock.ts";
import type { Tables } from "../../src/foundation/db/tables/index.ts";

const hourMs = 3_600_000;

/** A database that only knows the time. */
function timeServer(readMs: () => number): Kysely<Tables> {
  const connection = {
    executeQuery: async <Row>() => ({ rows: [{ ms: readMs() }] as Row[] }),
    streamQuery: () => expect.fail("nothing is streamed"),
  };
  const driver = Object.assign(new DummyDriver(), { acquireConnection: async () => connection });
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

test("after a suspend, in which only the clock that counts stood still, the database is asked for its time", async () => {
  const startedMs = Date.now();
  let [databaseMs, reads] = [startedMs, 0];
  const clock = await openDatabaseClock(
    timeServer(() => {
      reads += 1;
      return databaseMs;
    }),
  );
  onTestFinished(() => clock.close());
  expect(clock.now().getTime()).toBeGreaterThanOrEqual(startedMs);
  expect(reads).toBe(1);
  databaseMs += hourMs;
  const wall = vi.spyOn(Date, "now").mockImplementation(() => startedMs + hourMs);
  onTestFinished(() => wall.mockRestore());
  clock.now();
  clock.now();
  await expect.poll(() => clock.now().getTime()).toBeGreaterThanOrEqual(startedMs + hourMs);
  expect(reads).toBe(2);
});
