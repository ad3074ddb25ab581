import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Message, Model, ModelRequest } from "@agentcli/engine";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { describeDifference, firstDifference, openRecording, readCassette } from "../src/cassette/index.ts";
import { openMemoryStore } from "../src/sessions/index.ts";

const directory = mkdtempSync(join(tmpdir(), "cassette-"));
afterAll(() => rmSync(directory, { recursive: true }));

const header = {
  cassette: 1,
  at: "2026-01-01T00:00:00.000Z",
  program: { name: "agentcli", version: "1" },
  command: "exec",
  options: {} as never,
  today: { date: "2026-01-01", timezone: "UTC+00:00" },
  environment: {},
} as const;

const answering: Model = {
  reply: async ({ model }) => ({ kind: "replied", blocks: [], usage: {} as never, model }),
};

const messages = fc.array(
  fc.record({
    role: fc.constant("user" as const),
    parts: fc.array(fc.record({ type: fc.constant("text" as const), text: fc.string() })),
  }),
  { maxLength: 5 },
) as fc.Arbitrary<Message[]>;

const requests = fc.array(
  fc.record(
    {
      model: fc.string(),
      instructions: fc.string(),
      messages,
      tools: fc.constant([]),
      cacheKey: fc.constantFrom("one", "two"),
      turnId: fc.string(),
      effort: fc.string(),
    },
    { requiredKeys: ["model", "instructions", "messages", "tools", "cacheKey", "turnId"] },
  ) as fc.Arbitrary<ModelRequest>,
  { maxLength: 6 },
);

async function record(path: string, asked: ModelRequest[]): Promise<void> {
  const recording = openRecording({ path, header, scrub: (text) => text, warn: expect.fail });
  await recording
    .store(openMemoryStore())
    .append("one", 0, [{ type: "noted", kind: "warning", data: { message: "" } }]);
  const model = recording.model(answering);
  for (const request of asked) await model.reply(request, () => {}, new AbortController().signal);
}

test("requests are read back as they were asked, whatever changes from one to the next", async () => {
  const path = join(directory, "requests.jsonl");
  await fc.assert(
    fc.asyncProperty(requests, async (asked) => {
      await record(path, asked);
      expect(readCassette(path).exchanges.map(({ request }) => request)).toEqual(asked);
    }),
    { numRuns: 50 },
  );
});

test("a damaged recording is refused with its line, or read as far as it was written", async () => {
  const path = join(directory, "damaged.jsonl");
  await record(path, []);
  const whole = readFileSync(path, "utf8");
  const damage = fc.tuple(fc.nat(whole.length), fc.nat(20), fc.string());
  fc.assert(
    fc.property(damage, ([at, removed, inserted]) => {
      writeFileSync(path, whole.slice(0, at) + inserted + whole.slice(at + removed));
      try {
        expect(readCassette(path).header.cassette).toBe(1);
      } catch (error) {
        expect((error as Error).message).toMatch(
          /damaged\.jsonl(: line \d+ is damaged| is not a recording| holds no record| was recorded by)/,
        );
      }
    }),
    { numRuns: 200 },
  );
});

test("a difference is named by its field and shown where the values part", () => {
  const recorded = { model: "a", tools: { run: { description: "first line\nsecond line" } } };
  expect(firstDifference(recorded, structuredClone(recorded))).toBeNull();
  const now = { model: "a", tools: { run: { description: "first line\nother line" } } };
  const difference = firstDifference(recorded, now);
  expect(difference && describeDifference(difference)).toBe(
    'tools.run.description: recorded "…second line…", now "…other line…"',
  );
  expect(firstDifference({ a: 1 }, { a: 1, b: 2 })).toMatchObject({ field: "b", recorded: undefined, now: 2 });
});
