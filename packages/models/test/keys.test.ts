import { fault, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import type { KeySource } from "../src/index.ts";
import { faultOf, openHarness } from "./harness.ts";

/** Returns key-1, key-2 … with a new one only after a refusal. */
function countingSource(): { source: KeySource; asked: (string | undefined)[] } {
  const asked: (string | undefined)[] = [];
  let number = 1;
  const source: KeySource = async (refused) => {
    asked.push(refused);
    if (refused === `key-number-${number}`) number += 1;
    return `key-number-${number}`;
  };
  return { source, asked };
}

const keysOf = (requests: { headers: Record<string, unknown> }[]) =>
  requests.map(({ headers }) => headers.authorization);

test("a key is fetched once per attempt", async () => {
  const { source, asked } = countingSource();
  const { ask, requests } = await openHarness("responses", [fault(500), replyWith("hi")], { apiKey: source });
  expect((await ask()).reply.kind).toBe("replied");
  expect(asked).toEqual([undefined, undefined]);
  expect(keysOf(requests())).toEqual(["Bearer key-number-1", "Bearer key-number-1"]);
});

test("a refused key is replaced once", async () => {
  const { source } = countingSource();
  const { ask, requests } = await openHarness("chat", [fault(401), replyWith("hi")], { apiKey: source });
  expect((await ask()).reply.kind).toBe("replied");
  expect(keysOf(requests())).toEqual(["Bearer key-number-1", "Bearer key-number-2"]);
});

test("a second refusal is final and the keys are not in the message", async () => {
  const { source } = countingSource();
  const refusal = (key: string) => fault(401, { body: { error: { message: `Bad key ${key}` } } });
  const replies = [refusal("key-number-1"), refusal("key-number-2")];
  const { ask, requests } = await openHarness("responses", replies, { apiKey: source });
  const { code, message } = await faultOf(ask());
  expect(code).toBe("auth");
  expect(message).not.toContain("key-number");
  expect(requests()).toHaveLength(2);
});

test("no second request is sent if the source returns the same key", async () => {
  const { ask, requests } = await openHarness("responses", [fault(401)], { apiKey: async () => "the-only-key" });
  expect((await faultOf(ask())).code).toBe("auth");
  expect(requests()).toHaveLength(1);
});

test("a source that fails is an auth fault without retries", async () => {
  const apiKey = async () => {
    throw new Error("The token endpoint refused.");
  };
  const { ask, requests } = await openHarness("responses", [replyWith("hi")], { apiKey });
  expect(await faultOf(ask())).toMatchObject({ code: "auth", message: "The token endpoint refused." });
  expect(requests()).toEqual([]);
});

test("an abort does not wait for a source that hangs", async () => {
  const stop = new AbortController();
  const apiKey = () => {
    queueMicrotask(() => stop.abort());
    return new Promise<string>(() => {});
  };
  const { ask } = await openHarness("responses", [], { apiKey });
  expect((await faultOf(ask({}, { signal: stop.signal }))).code).toBe("interrupted");
});
