// Durations, and waits for them.
import { expect, test } from "vitest";
import { durationMs, wait } from "../src/config/duration.ts";

test("durations are parsed", () => {
  expect(["500ms", "1.5s", "10m", "1h", "off"].map(durationMs)).toEqual([500, 1500, 600_000, 3_600_000, null]);
});

const anHour = 3_600_000;

test("an abort ends a wait, also if it came first", async () => {
  const controller = new AbortController();
  const waiting = wait(anHour, controller.signal);
  controller.abort();
  await waiting;
  await wait(anHour, controller.signal);
});

test("a wait without an abort ends by itself", async () => {
  await wait(1, new AbortController().signal);
});
