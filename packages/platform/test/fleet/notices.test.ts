// What a notification of a new run makes servers do.
import { expect, test } from "vitest";
import { concernsWorkers, isFor, noticeOfAssigned, noticeOfRun, runsIn } from "../../src/fleet/notices.ts";

test("a run without a worker is announced as one run, and no worker is looked for", () => {
  const notice = noticeOfRun({ id: "run-1", needsWorker: false });
  expect(runsIn(notice)).toBe(1);
  expect(concernsWorkers(notice)).toBe(false);
});

test("a run that needs a worker is announced with its id, by which workers are assigned", () => {
  expect(noticeOfRun({ id: "run-1", needsWorker: true })).toBe("run-1");
  expect(concernsWorkers("run-1")).toBe(true);
});

test("two runs of one transaction are two notifications, because the database sends equal ones once", () => {
  const [one, other] = ["run-1", "run-2"].map((id) => noticeOfRun({ id, needsWorker: false }));
  expect(one).not.toBe(other);
});

test("after workers were assigned, any number of runs may wait", () => {
  expect(runsIn("")).toBe(Number.POSITIVE_INFINITY);
  expect(concernsWorkers("")).toBe(false);
});

test("assigned workers are announced to the server that they are connected to, and to no other", () => {
  const notice = noticeOfAssigned("a");
  expect(runsIn(notice)).toBe(Number.POSITIVE_INFINITY);
  expect(concernsWorkers(notice)).toBe(false);
  expect(["a", "b"].map((nodeId) => isFor(notice, { nodeId, servers: 1_000 }))).toEqual([true, false]);
});

test("of a thousand servers a few act on a new run, other ones on the next; of eight all do", () => {
  const acting = (servers: number, notice: string) =>
    Array.from({ length: servers }, (_, node) => `node-${node}`).filter((nodeId) => isFor(notice, { nodeId, servers }));
  expect(acting(8, "run-1")).toHaveLength(8);
  const counts = Array.from({ length: 30 }, (_, run) => acting(1_000, `run-${run}`).length);
  expect(Math.min(...counts)).toBeGreaterThan(0);
  expect(Math.max(...counts)).toBeLessThan(25);
  expect(acting(1_000, "run-1")).not.toEqual(acting(1_000, "run-2"));
  expect(acting(1_000, "")).toHaveLength(1_000);
});
