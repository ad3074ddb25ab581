// What the worker reports of its machine: little memory, and a process that hardly runs.
import { expect, test } from "vitest";
import { healthReader } from "../src/health.ts";

/** A machine of 1,000 bytes. */
function machine() {
  const state = { available: 500, nowMs: 0 };
  const read = healthReader({
    availableBytes: () => state.available,
    totalBytes: () => 1_000,
    now: () => state.nowMs,
  });
  const readAfter = (ms: number, available = 500) => {
    state.nowMs += ms;
    state.available = available;
    return read();
  };
  return { readAfter };
}

test("a machine with hardly any memory left is reported until there is some", () => {
  const { readAfter } = machine();
  expect([readAfter(1_000), readAfter(1_000, 29), readAfter(1_000, 31)]).toEqual(["well", "memory", "well"]);
});

test("a process that did not run for seconds is reported for a minute", () => {
  const { readAfter } = machine();
  expect([readAfter(1_500), readAfter(9_000), readAfter(1_000)]).toEqual(["well", "starved", "starved"]);
  const later = Array.from({ length: 60 }, () => readAfter(1_000));
  expect([later[0], later.at(-1)]).toEqual(["starved", "well"]);
});

test("this machine can be read", () => {
  expect(["well", "memory", "starved"]).toContain(healthReader()());
});
