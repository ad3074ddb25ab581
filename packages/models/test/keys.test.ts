import { fault, say } from "@agentcli/testkit";
import { expect, test } from "vitest";
import type { KeySource } from "../src/index.ts";
import { faultOf, openBench } from "./harness.ts";

/** Hands out key-1, key-2 … a new one only for one that was refused. */
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

test("a fetched key is asked for once per try", async () => {
  const { source, asked } = countingSource();
  const { ask, requests } = await openBench("responses", [fault(500), say("hi")], { apiKey: source });
  expect((await ask()).reply.kind).toBe("replied");
  expect(asked).toEqual([undefined, undefined]);
  expect(keysOf(requests())).toEqual(["Bearer key-number-1", "Bearer key-number-1"]);
});

test("a fetched key that was refused is exchanged for another, once", async () => {
  const { source } = countingSource();
  const { ask, requests } = await openBench("chat", [fault(401), say("hi")], { apiKey: source });
  expect((await ask()).reply.kind).toBe("replied");
  expect(keysOf(requests())).toEqual(["Bearer key-number-1", "Bearer key-number-2"]);
});

test("a second refusal is final and the keys are not in the message", async () => {
  const { source } = countingSource();
  const refusal = (key: string) => fault(401, { body: { error: { message: `Bad key ${key}` } } });
  const replies = [refusal("key-number-1"), refusal("key-number-2")];
  const { ask, requests } = await openBench("responses", replies, { apiKey: source });
  const { code, message } = await faultOf(ask());
  expect(code).toBe("auth");
  expect(message).not.toContain("key-number");
  expect(requests()).toHaveLength(2);
});

test("a source without another key to give is not asked for the same answer twice", async () => {
  const { ask, requests } = await openBench("responses", [fault(401)], { apiKey: async () => "the-only-key" });
  expect((await faultOf(ask())).code).toBe("auth");
  expect(requests()).toHaveLength(1);
});

test("a source that fails is a fault of the credentials, not retried", async () => {
  const apiKey = async () => {
    throw new Error("The token endpoint said no.");
  };
  const { ask, requests } = await openBench("responses", [say("hi")], { apiKey });
  expect(await faultOf(ask())).toMatchObject({ code: "auth", message: "The token endpoint said no." });
  expect(requests()).toEqual([]);
});

test("an interruption does not wait for a source that hangs", async () => {
  const stop = new AbortController();
  const apiKey = () => {
    queueMicrotask(() => stop.abort());
    return new Promise<string>(() => {});
  };
  const { ask } = await openBench("responses", [], { apiKey });
  expect((await faultOf(ask({}, { signal: stop.signal }))).code).toBe("interrupted");
});
