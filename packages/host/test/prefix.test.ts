import type { LoggedRequest } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { converse, type WireName } from "./random-conversation.ts";

const wires: WireName[] = ["responses", "chat", "anthropic"];
const conversations = process.env.SWEEP === "full" ? 200 : 12;

const conversationKey: Record<WireName, string> = { responses: "input", chat: "messages", anthropic: "messages" };

/** The bytes of a request up to the end of its conversation. Marks of where to keep it are not part of the prompt. */
function beginning(wire: WireName, body: unknown): string {
  const entries = Object.entries(body as object);
  const end = entries.findIndex(([key]) => key === conversationKey[wire]);
  const text = JSON.stringify(Object.fromEntries(entries.slice(0, end + 1)), (key, value) =>
    key === "cache_control" ? undefined : value,
  );
  // Closing brackets of the list and of the request; on the Anthropic wire also of the last message, which may grow.
  return text.slice(0, wire === "anthropic" ? -"]}]}".length : -"]}".length);
}

const isCompaction = ({ body }: LoggedRequest): boolean => JSON.stringify(body).includes("Write a hand-over summary");

function byThread(requests: LoggedRequest[]): LoggedRequest[][] {
  const threads = new Map<string, LoggedRequest[]>();
  for (const request of requests) {
    const id = String(request.headers["session-id"]);
    threads.set(id, [...(threads.get(id) ?? []), request]);
  }
  return [...threads.values()];
}

test.each(wires)(
  "on the %s wire every request begins with the bytes of the one before it, and reads all of it from the cache",
  async (wire) => {
    const seen = { pairs: 0, compactions: 0, shortened: 0, agents: 0, cached: 0, possible: 0 };
    for (let seed = 1; seed <= conversations; seed += 1) {
      const threads = byThread(await converse(wire, seed));
      seen.agents += threads.length - 1;
      for (const requests of threads) {
        for (const [index, request] of requests.entries()) {
          const before = requests[index - 1];
          if (!before) continue;
          if (isCompaction(before)) {
            seen.compactions += 1;
            // Tools, instructions and rules are the same as before.
            expect(request.prompt?.cachedInputTokens).toBeGreaterThan(0);
            continue;
          }
          const begins = beginning(wire, request.body).startsWith(beginning(wire, before.body));
          if (isCompaction(request) && !begins) {
            // The history did not fit the window with the request for its summary.
            seen.shortened += 1;
            continue;
          }
          seen.pairs += 1;
          const where = `conversation ${seed}, request ${request.index}`;
          expect(begins, where).toBe(true);
          expect(request.prompt?.cachedInputTokens, where).toBeGreaterThanOrEqual(before.prompt?.inputTokens ?? 0);
          seen.cached += request.prompt?.cachedInputTokens ?? 0;
          seen.possible += before.prompt?.inputTokens ?? 0;
        }
      }
    }
    // The sample has everything in it that it is about.
    expect(seen.pairs).toBeGreaterThan(20);
    expect(Math.min(seen.compactions - seen.shortened, seen.agents)).toBeGreaterThan(0);
    expect(seen.cached / seen.possible).toBeGreaterThanOrEqual(1);
  },
);
