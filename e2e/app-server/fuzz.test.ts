// Invalid lines: the server survives them all and answers every request exactly once.
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { waitForExit } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import fc from "fast-check";
import { expect, test } from "vitest";

const count = process.env.SWEEP === "full" ? 20_000 : 400;
const seed = 20_251_115;

// Only methods that change nothing: the test runs on a real machine.
const methods = [
  "model/list",
  "thread/list",
  "thread/read",
  "thread/loaded/list",
  "skills/list",
  "config/read",
  "account/read",
];
const members = ["threadId", "cursor", "limit", "cwds", "includeTurns", "sortKey", "searchTerm", "includeLayers"];

const id = fc.oneof(fc.integer(), fc.string(), fc.constantFrom(0, -1, "", "constructor", "__proto__"));
const params = fc.oneof(fc.dictionary(fc.constantFrom(...members), fc.jsonValue()), fc.jsonValue(), fc.constant({}));
const method = fc.oneof(fc.constantFrom(...methods, "initialize", "no/such", "plugin/list"), fc.string());
const request = fc.record({ id, method, params }, { requiredKeys: ["method"] });
const line: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: request.map((value) => JSON.stringify(value)) },
  { weight: 2, arbitrary: fc.tuple(request, fc.nat()).map(([value, at]) => cutShort(JSON.stringify(value), at)) },
  { weight: 2, arbitrary: fc.jsonValue().map((value) => JSON.stringify(value)) },
  {
    weight: 1,
    arbitrary: fc.record({ id: fc.jsonValue(), method: fc.jsonValue() }).map((value) => JSON.stringify(value)),
  },
  { weight: 1, arbitrary: fc.record({ id, result: fc.jsonValue() }).map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.record({ id, error: fc.jsonValue() }).map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
  { weight: 1, arbitrary: fc.tuple(id, fc.integer({ min: 1, max: 20_000 })).map(([key, depth]) => nested(key, depth)) },
  { weight: 1, arbitrary: fc.tuple(id, fc.integer({ min: 1, max: 1_000_000 })).map(([key, size]) => huge(key, size)) },
);

const cutShort = (text: string, at: number) => text.slice(0, at % text.length);
const nested = (key: unknown, depth: number) =>
  `{"id":${JSON.stringify(key)},"method":"thread/list","params":{"cwd":${"[".repeat(depth)}${"]".repeat(depth)}}}`;
const huge = (key: unknown, size: number) =>
  JSON.stringify({ id: key, method: "thread/list", params: { searchTerm: "x".repeat(size) } });

/** The ids that must be answered according to the protocol. */
function expectedAnswers(lines: string[]): string[] {
  return lines.flatMap((text) => {
    const value = parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
    const message = value as Record<string, unknown>;
    const isAnswerable = typeof message.id === "string" || Number.isSafeInteger(message.id);
    const isAnswer = typeof message.method !== "string" && ("result" in message || "error" in message);
    return isAnswerable && !isAnswer ? [JSON.stringify(message.id)] : [];
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const openFiles = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;
const residentMegabytes = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
const tally = (ids: string[]) => [...ids].sort();

test(`${count} lines of all kinds: no crash, no leak, one answer a request`, { timeout: 600_000 }, async () => {
  const { start } = await openHarness();
  const child = start(["app-server"], { stdin: "open" });
  const { stdin, stdout, pid } = child;
  if (!stdin || !stdout || !pid) throw new Error("no streams");
  const answered: string[] = [];
  const ending = waitForExit(child);
  const reader = createInterface({ input: stdout });
  const waitForOutput = (marker: string) =>
    new Promise<void>((resolve) => reader.on("line", (text) => text.includes(marker) && resolve()));
  reader.on("line", (text) => {
    const message = JSON.parse(text) as { id?: unknown; method?: string };
    if (message.method === undefined) answered.push(JSON.stringify(message.id));
  });

  const first = waitForOutput('"id":"hello"');
  stdin.write('{"id":"hello","method":"initialize","params":{"clientInfo":{"name":"fuzz","version":"1"}}}\n');
  await first;
  const before = { files: openFiles(pid), megabytes: residentMegabytes(pid) };

  const lines = fc.sample(line, { numRuns: count, seed }).map((text) => text.replaceAll(/[\r\n]/g, " "));
  for (const text of lines) if (!stdin.write(`${text}\n`)) await once(stdin, "drain");
  const last = waitForOutput('"id":"goodbye"');
  stdin.write('{"id":"goodbye","method":"no/such"}\n');
  await last;
  const after = { files: openFiles(pid), megabytes: residentMegabytes(pid) };
  stdin.end();

  const { code, stderr } = await ending;
  console.log(
    `${count} lines: ${answered.length} answers, ${before.megabytes | 0} → ${after.megabytes | 0} MB resident`,
  );
  expect({ code, crashed: /Internal error|at .*\.cjs/.test(stderr) }).toEqual({ code: 0, crashed: false });
  expect(tally(answered)).toEqual(tally(['"hello"', '"goodbye"', ...expectedAnswers(lines)]));
  expect(after.files).toBe(before.files);
  expect(after.megabytes - before.megabytes).toBeLessThan(300);
});
