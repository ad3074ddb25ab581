import { expect, test } from "vitest";
import { delay, type RetryPlan, withRetries } from "../src/retry.ts";
import { trouble } from "../src/trouble.ts";

const plan: RetryPlan = {
  requestMaxRetries: 100,
  streamMaxRetries: 0,
  retryBaseMs: 200,
  random: () => 1,
  delay: async () => {},
};
const never = new AbortController().signal;

test("no further attempt is made after an abort during a wait", async () => {
  const stop = new AbortController();
  let attempts = 0;
  const attempt = async () => {
    attempts += 1;
    return trouble("network", "gone");
  };
  const aborting = { ...plan, delay: async () => stop.abort() };
  const reply = await withRetries(aborting, attempt, () => {}, stop.signal);
  expect(reply).toMatchObject({ kind: "fault", fault: { code: "interrupted" } });
  expect(attempts).toBe(1);
});

test("waits stop growing at a minute, however many retries are allowed", async () => {
  const waits: number[] = [];
  const reply = await withRetries(
    { ...plan, delay: async (ms) => void waits.push(ms) },
    async () => trouble("network", "gone"),
    () => {},
    never,
  );
  expect(waits).toHaveLength(100);
  expect(Math.max(...waits)).toBe(60_000);
  expect(reply).toMatchObject({ fault: { message: "gone Given up after 100 retries." } });
});

test("the usual delay ends early when the signal fires", async () => {
  const stop = new AbortController();
  const waiting = delay(3_600_000, stop.signal);
  stop.abort();
  await waiting;
  await delay(3_600_000, stop.signal);
  await delay(1, never);
});
