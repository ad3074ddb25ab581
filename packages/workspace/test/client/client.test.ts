// A client facing servers that are hostile, broken or gone.
import { PassThrough } from "node:stream";
import {
  Chunk,
  EditResult,
  ExecResult,
  ListResult,
  OperationFrame,
  ReadResult,
  SearchResult,
  StatusResult,
} from "@agentcli/protocol";
import { WorkspaceLost } from "@agentcli/protocol/workspace-errors";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { connectWorkspace } from "../../src/client/client.ts";
import * as shapes from "../../src/client/shapes.ts";
import { readLines } from "../../src/wire/json-lines.ts";
import { until } from "../support/commands.ts";

const fuzzRuns = Number(process.env.FUZZ_RUNS ?? 200);
const hello = { frame: "hello", root: "/w", incarnation: "i" };
const signal = new AbortController().signal;

/** A server that sends the frames the test passes in. */
async function connectToScriptedServer(describeEnd?: () => Promise<string>) {
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  const requests: OperationFrame[] = [];
  readLines(toServer, { onLine: (line) => void requests.push(JSON.parse(line)), onEnd: () => {} });
  const send = (...frames: unknown[]) => frames.forEach((frame) => void toClient.write(`${JSON.stringify(frame)}\n`));
  send(hello);
  const connection = { readable: toClient, writable: toServer, ...(describeEnd && { describeEnd }) };
  return { workspace: await connectWorkspace(connection), requests, send, toClient };
}

test("chunks and results reach the call they belong to; others are ignored", async () => {
  const { workspace, send } = await connectToScriptedServer();
  const texts: string[] = [];
  const running = workspace.exec({ id: "a" }, (chunk) => void texts.push(chunk.text), signal);
  send(
    { frame: "chunk", call: 99, chunk: { seq: 1, stream: "stdout", text: "stray" } },
    { frame: "result", call: 99, result: null },
    { frame: "chunk", call: 1, chunk: { seq: 1, stream: "stdout", text: "mine" } },
    { frame: "result", call: 1, result: { state: "running", seq: 1 } },
    { frame: "result", call: 1, result: { state: "running", seq: 2 } },
  );
  expect(await running).toEqual({ state: "running", seq: 1 });
  expect(texts).toEqual(["mine"]);
});

test("an error from the server fails that call only", async () => {
  const { workspace, send } = await connectToScriptedServer();
  const failing = workspace.list({ path: "." });
  send({ frame: "error", call: 1, message: "out of luck" });
  await expect(failing).rejects.toThrow("failed at list: out of luck");
  const status = workspace.status();
  send({ frame: "result", call: 2, result: { root: "/", incarnation: "i", shell: "sh", git: null, processes: [] } });
  expect(await status).toMatchObject({ shell: "sh" });
});

test.each([
  ["invalid JSON", "{"],
  ["deeply nested JSON", "[".repeat(200_000)],
  ["an unknown frame", '{"frame":"surprise"}'],
  ["a call frame", '{"frame":"call","call":1,"operation":"exec","request":{}}'],
  ["a result of the wrong shape", '{"frame":"result","call":1,"result":{"state":"exited","seq":"many"}}'],
  ["a chunk of the wrong shape", '{"frame":"chunk","call":1,"chunk":{"seq":-1,"stream":"stdout","text":""}}'],
])("%s loses the workspace, for all calls and permanently", async (_, line) => {
  const { workspace, toClient } = await connectToScriptedServer();
  const calls = [workspace.exec({ id: "a" }, () => {}, signal), workspace.exec({ id: "b" }, () => {}, signal)];
  toClient.write(`${line}\n`);
  for (const call of calls) await expect(call).rejects.toThrow(WorkspaceLost);
  await expect(workspace.status()).rejects.toThrow(WorkspaceLost);
});

test("answers for files that were not requested lose the workspace", async () => {
  const { workspace, send } = await connectToScriptedServer();
  const reading = workspace.read({ files: [{ path: "a", as: "lines" }] });
  send({ frame: "result", call: 1, result: { files: [] } });
  await expect(reading).rejects.toThrow(WorkspaceLost);
});

test("the end of the stream rejects pending calls with the reason of the connection", async () => {
  const { workspace, toClient } = await connectToScriptedServer(
    async () => "its process exited with code 9. It said: ouch",
  );
  const running = workspace.exec({ id: "a" }, () => {}, signal);
  toClient.end();
  await expect(running).rejects.toThrow("The workspace was lost: its process exited with code 9. It said: ouch");
});

test("a stream that ends before its greeting is a lost workspace", async () => {
  const readable = new PassThrough();
  const connecting = connectWorkspace({ readable, writable: new PassThrough() });
  readable.end();
  await expect(connecting).rejects.toThrow(WorkspaceLost);
});

test("an abort is passed on and the answer still awaited", async () => {
  const { workspace, send, requests } = await connectToScriptedServer();
  const abort = new AbortController();
  const running = workspace.exec({ id: "a" }, () => {}, abort.signal);
  abort.abort();
  await until(() => requests.some((frame) => frame.frame === "abort"));
  const result = { state: "exited", seq: 0, exitCode: 143, durationMs: 1, timedOut: false, droppedBytes: 0 };
  send({ frame: "result", call: 1, result });
  expect(await running).toEqual(result);
});

test("a server that answers nothing is lost after the wait that a command allows, later where it sends output", async () => {
  const { workspace, send } = await connectToScriptedServer();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const seen: string[] = [];
  const running = workspace.exec({ id: "a", waitMs: 30_000 }, ({ text }) => void seen.push(text), signal);
  vi.advanceTimersByTime(320_000);
  send({ frame: "chunk", call: 1, chunk: { seq: 1, stream: "stdout", text: "still here" } });
  await expect.poll(() => seen).toEqual(["still here"]);
  vi.advanceTimersByTime(320_000);
  await expect(isPending(running)).resolves.toBe(true);
  vi.advanceTimersByTime(11_000);
  await expect(running).rejects.toThrow("it did not answer exec within 330000 ms.");
  await expect(workspace.status()).rejects.toThrow(WorkspaceLost);
});

test("a command that may run for ever is waited for", async () => {
  const { workspace } = await connectToScriptedServer();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const running = workspace.exec({ id: "a" }, () => {}, signal);
  vi.advanceTimersByTime(7 * 24 * 3_600_000);
  await expect(isPending(running)).resolves.toBe(true);
});

const isPending = (promise: Promise<unknown>) =>
  Promise.race([promise.then(() => false), new Promise((resolve) => setImmediate(resolve, true))]);

test("a line longer than the limit ends the reading", async () => {
  const stream = new PassThrough();
  const lines: string[] = [];
  const reason = new Promise((resolve) => {
    readLines(stream, { onLine: (line) => void lines.push(line), onEnd: resolve }, 10);
  });
  stream.write("0123456789\n0123456789");
  stream.write("0\nmore\n");
  expect(await reason).toBe("too-long");
  expect(lines).toEqual(["0123456789"]);
});

test("lines come out as they went in, however the stream is cut", () => {
  const line = fc.string({ unit: "binary", maxLength: 40 }).map((text) => text.replaceAll("\n", ""));
  const property = fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 7 }), async (lines, size) => {
    const stream = new PassThrough();
    const seen: string[] = [];
    const ended = new Promise((resolve) => {
      readLines(stream, { onLine: (text) => void seen.push(text), onEnd: resolve });
    });
    const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
    for (let at = 0; at < bytes.length; at += size) stream.write(bytes.subarray(at, at + size));
    stream.end();
    await ended;
    expect(seen).toEqual(lines.map((text) => Buffer.from(text).toString()));
  });
  return fc.assert(property, { numRuns: fuzzRuns });
});

describe("hand-written checks agree with the schemas", () => {
  const samples = [
    { state: "running", seq: 3 },
    { state: "exited", seq: 1, exitCode: 0, durationMs: 1.5, timedOut: false, droppedBytes: 0 },
    { state: "unknown", message: "m" },
    { files: [{ kind: "lines", lines: ["a"], firstLine: 1, totalLines: 1, cut: false }] },
    {
      files: [
        { kind: "bytes", base64: "", size: 0 },
        { kind: "fault", code: "missing", message: "m" },
      ],
    },
    { kind: "entries", entries: [{ path: "a", kind: "file", size: null }], cut: true },
    { kind: "matches", matches: [{ path: "a", line: 1, text: "t" }], cut: false },
    { kind: "edited", files: [{ path: "a", kind: "update", movedTo: "b" }] },
    { kind: "refused", message: "m" },
    { root: "/", incarnation: "i", shell: "s", git: { root: "/", branch: null, commit: "c" }, processes: [] },
    { seq: 1, stream: "terminal", text: "" },
  ];
  const pairs = [
    ["Chunk", Chunk, shapes.isChunk],
    ["ExecResult", ExecResult, shapes.isExecResult],
    ["ReadResult", ReadResult, shapes.isReadResult],
    ["ListResult", ListResult, shapes.isListResult],
    ["SearchResult", SearchResult, shapes.isSearchResult],
    ["EditResult", EditResult, shapes.isEditResult],
    ["StatusResult", StatusResult, shapes.isStatusResult],
  ] as const;

  test.each(pairs)("%s", (_, schema, isShape) => {
    const valid = samples.filter((sample) => schema.safeParse(sample).success);
    const anySample = fc.oneof(fc.constantFrom(...valid), fc.constantFrom(...samples));
    const property = fc.property(anySample, fc.jsonValue(), fc.nat(), (sample, value, where) => {
      const damaged = [value, undefined, null, 0, -1, 1.5, "", [], {}].map((by) => damage(sample, by, where));
      for (const candidate of [sample, value, ...damaged]) {
        expect([isShape(candidate), candidate]).toEqual([schema.safeParse(candidate).success, candidate]);
      }
    });
    fc.assert(property, { numRuns: fuzzRuns });
  });

  test("frames of a server", () => {
    const frames = [
      hello,
      { frame: "chunk", call: 1, chunk: { seq: 1, stream: "stdout", text: "" } },
      { frame: "result", call: 1, result: null },
      { frame: "error", call: 1, message: "m" },
    ];
    const property = fc.property(fc.constantFrom(...frames), fc.jsonValue(), fc.nat(), (frame, value, where) => {
      const candidate = damage(frame, value, where);
      const parsed = shapes.parseServerFrame(JSON.stringify(candidate)) !== undefined;
      expect([parsed, candidate]).toEqual([OperationFrame.safeParse(candidate).success, candidate]);
    });
    fc.assert(property, { numRuns: fuzzRuns });
  });
});

/** A copy with one member, at any depth, replaced. */
function damage(value: unknown, by: unknown, where: number): unknown {
  if (typeof value !== "object" || value === null) return by;
  const names = Object.keys(value);
  const name = names[where % names.length];
  if (name === undefined) return by;
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[name] = where % 3 === 0 ? damage(copy[name], by, Math.floor(where / names.length)) : by;
  return copy;
}
