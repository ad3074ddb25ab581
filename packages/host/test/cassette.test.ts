import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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

const usage = {
  inputTokens: 1,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 1,
  reasoningOutputTokens: 0,
};

const answering: Model = {
  reply: async ({ model }) => ({ kind: "replied", blocks: [], usage, model }),
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
          /damaged\.jsonl(: line \d+ is damaged| is not a recording| holds no record| was recorded by| cannot be read)/,
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

const created = {
  type: "thread.created",
  threadId: "one",
  frozen: { instructions: "", tools: [], context: [] },
  settings: { model: "m", provider: "p", cwd: "/", shell: "/bin/sh", sandbox: "read-only", approval: "never" },
  program: { name: "agentcli", version: "1" },
};
const user = { role: "user", parts: [{ type: "text", text: "hello" }] };
const wholeLines = [
  header,
  { type: "records", thread: "one", records: [{ seq: 1, at: header.at, record: created }] },
  {
    type: "exchange",
    thread: "one",
    request: { model: "m", instructions: "", tools: [], cacheKey: "one", turnId: "t", kept: 0, added: [user] },
    reply: { kind: "replied", blocks: [{ type: "message", text: "hi" }], usage, model: "m" },
  },
];

type Json = { [name: string]: Json } | Json[] | string | number | null;

/** Every value in a tree, as the names that lead to it. */
const pathsIn = (value: Json): string[][] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, member]) => [[name], ...pathsIn(member).map((path) => [name, ...path])])
    : [];

function replacedAt(value: Json, [name = "", ...rest]: string[], by: Json | undefined): Json {
  const copy = structuredClone(value) as Record<string, Json>;
  if (rest.length > 0) copy[name] = replacedAt(copy[name] as Json, rest, by);
  else if (by === undefined) delete copy[name];
  else copy[name] = by;
  return copy;
}

test("a recording with a member of the wrong kind, or without one, is refused with its line or still complete", () => {
  const path = join(directory, "odd.jsonl");
  const lines = JSON.parse(JSON.stringify(wholeLines)) as Json[];
  const members = lines.flatMap((line, index) => pathsIn(line).map((names) => [String(index), ...names]));
  const oddities = fc.constantFrom<Json | undefined>(undefined, null, 7, "odd", [], {}, [null], { blocks: null });
  fc.assert(
    fc.property(fc.constantFrom(...members), oddities, (names, odd) => {
      const [index = "0", ...rest] = names;
      const changed = lines.map((line, at) => (at === Number(index) ? replacedAt(line, rest, odd) : line));
      writeFileSync(path, `${changed.map((line) => JSON.stringify(line)).join("\n")}\n`);
      try {
        const { header: read, batches, exchanges } = readCassette(path);
        expect(
          [read.command, read.today.date, batches[0]?.records[0]?.record.type].every(
            (text) => typeof text === "string",
          ),
        ).toBe(true);
        for (const { reply } of exchanges)
          expect(Array.isArray(reply.kind === "replied" ? reply.blocks : [])).toBe(true);
      } catch (error) {
        expect((error as Error).message).toMatch(
          /^\S+odd\.jsonl(: line \d is damaged| is not a recording| holds no record| was recorded by a newer)/,
        );
      }
    }),
    { numRuns: 400 },
  );
});

test.each([
  ["blocks that are null", ["2", "reply", "blocks"], null, 3],
  ["a record without frozen", ["1", "records", "0", "record", "frozen"], undefined, 2],
  ["a message without parts", ["2", "request", "added", "0", "parts"], undefined, 3],
  ["options that are a list", ["0", "options"], [], 1],
  ["an option of another kind", ["0", "options"], { overrides: "x" }, 1],
] as const)("%s is named by its line", (_, [index, ...names], odd, line) => {
  const path = join(directory, "named.jsonl");
  const lines = JSON.parse(JSON.stringify(wholeLines)) as Json[];
  const changed = lines.map((each, at) => (at === Number(index) ? replacedAt(each, [...names], odd as Json) : each));
  writeFileSync(path, `${changed.map((each) => JSON.stringify(each)).join("\n")}\n`);
  expect(() => readCassette(path)).toThrow(`named.jsonl: line ${line} is damaged`);
});

test("a recording is not written through a link that leads nowhere, nor to a file put there later", async () => {
  const [link, target] = [join(directory, "link.jsonl"), join(directory, "elsewhere.jsonl")];
  symlinkSync(target, link);
  expect(() => openRecording({ path: link, header, scrub: (text) => text, warn: expect.fail })).toThrow(
    "link.jsonl exists and is not a complete recording",
  );
  expect(existsSync(target)).toBe(false);
  rmSync(link);
  const warnings: string[] = [];
  const recording = openRecording({ path: link, header, scrub: (text) => text, warn: (text) => warnings.push(text) });
  writeFileSync(target, "mine\n");
  rmSync(link);
  symlinkSync(target, link);
  await recording
    .store(openMemoryStore())
    .append("one", 0, [{ type: "noted", kind: "warning", data: { message: "" } }]);
  expect(readFileSync(target, "utf8")).toBe("mine\n");
  expect(warnings).toEqual([expect.stringContaining("link.jsonl is incomplete")]);
});
