import { expect, test } from "vitest";
import { failAttempt } from "../src/failure.ts";
import { delay, type RetryPlan, withRetries } from "../src/retry.ts";

const plan: RetryPlan = {
  requestMaxRetries: 100,
  streamMaxRetries: 0,
  retryBaseMs: 200,
  random: () => 1,
  delay: async () => {},
};
const never = new AbortController().signal;

test("an abort during a delay ends the retries", async () => {
  const stop = new AbortController();
  let attempts = 0;
  const attempt = async () => {
    attempts += 1;
    return failAttempt("network", "gone");
  };
  const aborting = { ...plan, delay: async () => stop.abort() };
  const reply = await withRetries(aborting, attempt, () => {}, stop.signal);
  expect(reply).toMatchObject({ kind: "fault", fault: { code: "interrupted" } });
  expect(attempts).toBe(1);
});

test("delays stop growing at one minute", async () => {
  const waits: number[] = [];
  const reply = await withRetries(
    { ...plan, delay: async (ms) => void waits.push(ms) },
    async () => failAttempt("network", "gone"),
    () => {},
    never,
  );
  expect(waits).toHaveLength(100);
  expect(Math.max(...waits)).toBe(60_000);
  expect(reply).toMatchObject({ fault: { message: "gone Gave up after 100 retries." } });
});

test("the default delay ends early when the signal fires", async () => {
  const stop = new AbortController();
  const waiting = delay(3_600_000, stop.signal);
  stop.abort();
  await waiting;
  await delay(3_600_000, stop.signal);
  await delay(1, never);
});
