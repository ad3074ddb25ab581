import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openServer, type WorkspaceServer } from "@agentcli/workspace";
import { afterEach, beforeEach, expect, test } from "vitest";
import { drive, type ModelRequest, openLog, type Repository, readThread } from "../src/index.ts";
import { calls, openHarness, replies, textReply } from "./thread-harness.ts";

let root: string;
let workspace: WorkspaceServer;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "engine-"));
  const env = { PATH: process.env.PATH ?? "", HOME: root };
  workspace = await openServer({ root, writable: "anywhere", env, incarnation: "first", orphans: "ended-by-watchdog" });
  mkdirSync(join(root, "sub"));
  writeFileSync(join(root, "sub/a.txt"), "a\n");
});
afterEach(async () => {
  await workspace.close();
  rmSync(root, { recursive: true });
});

const never = new AbortController().signal;

/** Has instructions for `sub` when a file in it is touched, and records the requested paths. */
function repositoryOfSub(): Repository & { requestedPaths: string[][] } {
  const requestedPaths: string[][] = [];
  return {
    requestedPaths,
    async textsFor(touched, given) {
      requestedPaths.push(touched);
      const isNews = touched.some((path) => path.startsWith("sub")) && !given.includes("sub/AGENTS.md");
      return { texts: isNews ? [{ source: "sub/AGENTS.md", text: "Mind the sub." }] : [], warnings: [] };
    },
  };
}

const instructionCount = (request: ModelRequest | undefined): number =>
  JSON.stringify(request?.messages ?? []).split("Mind the sub.").length - 1;

test("instructions for a touched file are added before the next request, after the outcome, once", async () => {
  const read = (wireId: string) => replies([calls("read_file", { path: "sub/a.txt" }, wireId)]);
  const script = [read("1"), read("2"), textReply("Done.")];
  const thread = await openHarness((_, number) => script[number] ?? textReply("?"), workspace);
  const repository = repositoryOfSub();
  await thread.begin("read it");
  await drive(thread.log, { ...thread.dependencies, repository }, never);
  expect(thread.requests.map(instructionCount)).toEqual([0, 1, 1]);
  expect(thread.requests[1]?.messages.slice(-2)).toMatchObject([
    { role: "tool" },
    { role: "user", parts: [{ type: "text", text: "Mind the sub." }] },
  ]);
  const added = thread.store.records.filter(({ record }) => record.type === "input.added");
  expect(added.map(({ record }) => record)).toEqual([
    {
      type: "input.added",
      origin: "repository",
      input: [{ type: "text", text: "Mind the sub." }],
      sources: ["sub/AGENTS.md"],
    },
  ]);
});

test("edits, commands and their directories touch files, listing and searching do not", async () => {
  const patch = "*** Begin Patch\n*** Add File: sub/new.txt\n+x\n*** End Patch";
  const script = [
    replies([calls("list_dir", { path: "sub" }), calls("grep_files", { pattern: "a", path: "sub" })]),
    replies([calls("apply_patch", { input: patch })]),
    replies([calls("exec_command", { cmd: "sed -n 1,5p 'sub/a.txt' | head --lines=3", workdir: "sub/.." })]),
    replies([calls("read_file", { path: "missing.txt" }), calls("nonsense", { path: "x" })]),
    textReply("Done."),
  ];
  const thread = await openHarness((_, number) => script[number] ?? textReply("?"), workspace);
  const repository = repositoryOfSub();
  await thread.begin("work");
  await drive(thread.log, { ...thread.dependencies, repository }, never);
  expect(repository.requestedPaths[0]).toEqual(["sub/new.txt"]);
  expect(repository.requestedPaths[1]).toEqual(expect.arrayContaining(["sub/..", "sub/../sub/a.txt"]));
  expect(repository.requestedPaths.at(-1)).toEqual(["missing.txt"]);
});

test("a thread interrupted before the next request receives them when it is resumed, and not again in a later turn", async () => {
  const thread = await openHarness((_, number) => textReply(`Answer ${number}.`), workspace);
  await thread.begin("read it");
  const usage = {
    inputTokens: 0,
    cachedInputTokens: 0,
    cacheWriteInputTokens: 0,
    outputTokens: 0,
    reasoningOutputTokens: 0,
  };
  await thread.log.write(
    { type: "model.replied", blocks: [calls("read_file", { path: "sub/a.txt" })], usage, model: "scripted" },
    {
      type: "tool.begun",
      callId: "3.0",
      name: "read_file",
      args: { path: "sub/a.txt" },
      incarnation: "old",
      onResume: "rerun",
    },
  );
  const { state } = await readThread(thread.store, "thread");
  const log = openLog(state, { store: thread.store, emit() {} });
  const repository = repositoryOfSub();
  await drive(log, { ...thread.dependencies, repository }, never);
  expect(instructionCount(thread.requests[0])).toBe(1);
  const again = await readThread(thread.store, "thread");
  expect(again.state.instructions).toEqual(state.instructions);
  expect(again.state.instructions).toMatchObject([{ sources: ["sub/AGENTS.md"] }]);
});

test("after a compaction they are not kept as user messages, but are added again with the files they apply to", async () => {
  const read = replies([calls("read_file", { path: "sub/a.txt" })], 100);
  const full = replies([calls("read_file", { path: "sub/a.txt" })], 5_000);
  const script = [read, full, textReply("SUMMARY"), read, textReply("Done.")];
  const thread = await openHarness((_, number) => script[number] ?? textReply("?"), workspace);
  await thread.begin("keep this prompt", { compactAt: 4_000 });
  await drive(thread.log, { ...thread.dependencies, repository: repositoryOfSub() }, never);
  expect(JSON.stringify(thread.requests[3]?.messages)).toContain("keep this prompt");
  expect(thread.types().filter((type) => type === "context.compacted")).toHaveLength(1);
  expect([1, 3, 4].map((number) => instructionCount(thread.requests[number]))).toEqual([1, 1, 1]);
  expect(thread.log.state.instructions).toHaveLength(1);
});

test("a file that cannot be used is a warning in the log, and the turn continues", async () => {
  const script = [replies([calls("read_file", { path: "sub/a.txt" })]), textReply("Done.")];
  const thread = await openHarness((_, number) => script[number] ?? textReply("?"), workspace);
  const repository: Repository = { textsFor: async () => ({ texts: [], warnings: ["sub/AGENTS.md: not text"] }) };
  await thread.begin("read it");
  const { end } = await drive(thread.log, { ...thread.dependencies, repository }, never);
  expect(end?.status).toBe("completed");
  expect(thread.store.records.map(({ record }) => record)).toContainEqual({
    type: "noted",
    kind: "warning",
    data: { message: "sub/AGENTS.md: not text" },
  });
});
