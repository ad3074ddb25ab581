// What a notification of a new run makes servers do.
import { expect, test } from "vitest";
import { concernsWorkers, noticeOfRun, runsIn } from "../../src/fleet/notices.ts";

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
