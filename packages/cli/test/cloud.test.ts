// What the cloud commands make of addresses, patches and streams.
import { createServer, type ServerResponse } from "node:http";
import type { StreamFrame } from "@agentcli/protocol/api";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { followRun } from "../src/cloud/follow.ts";
import { bareAddress, sharedAddress } from "../src/cloud/origin.ts";
import { summarize, type WholeDiff } from "../src/cloud/patch.ts";
import { openRenderer } from "../src/cloud/render.ts";
import { outcomeOf, statusOf } from "../src/cloud/status.ts";

const runs = Number(process.env.FUZZ_RUNS ?? 200);

test.each([
  ["https://github.com/o/r.git", "github.com/o/r"],
  ["git@github.com:o/r.git", "github.com/o/r"],
  ["ssh://git@github.com/o/r/", "github.com/o/r"],
  ["http://user:secret@127.0.0.1:7420/git/r.git", "127.0.0.1:7420/git/r"],
  ["github.com/O/R", "github.com/o/r"],
])("%s is the repository %s", (address, bare) => expect(bareAddress(address)).toBe(bare));

test.each([
  ["http://user:secret@127.0.0.1:7420/git/r.git", "http://127.0.0.1:7420/git/r.git"],
  ["https://token@github.com/o/r", "https://github.com/o/r"],
  ["ssh://git:secret@github.com/o/r", "ssh://git@github.com/o/r"],
  ["git@github.com:o/r.git", "git@github.com:o/r.git"],
  ["/srv/git/r.git", null],
  ["file:///srv/git/r.git", null],
])("%s is shared as %s", (address, shared) => expect(sharedAddress(address)).toBe(shared));

const diffOf = (patch: string): WholeDiff => ({
  repoUrl: "",
  baseBranch: "",
  baseCommit: "",
  branch: "",
  encoding: "utf-8",
  patch,
});

test("lines that look like headers are counted as the lines they are", () => {
  const line = fc.constantFrom("diff --git a/x b/x", "@@ -1 +1 @@", "+++ b", "--- a", "-- x", "++ y", "", "\\ no");
  fc.assert(
    fc.property(fc.array(line), fc.array(line), (removed, added) => {
      const hunk = [...removed.map((text) => `-${text}`), ...added.map((text) => `+${text}`)];
      const head = ["diff --git a/f b/f", "--- a/f", "+++ b/f", `@@ -1,${removed.length} +1,${added.length} @@`];
      expect(summarize([diffOf([...head, ...hunk, ""].join("\n"))])).toEqual({
        files_changed: 1,
        lines_added: added.length,
        lines_removed: removed.length,
      });
    }),
    { numRuns: runs },
  );
});

test("texts that come in pieces are shown as lines, without what moves a cursor", () => {
  const render = openRenderer();
  const frames: StreamFrame[] = [
    { event: "assistant", data: { text: "Hel" } },
    { event: "assistant", data: { text: "lo\nwor\u001b[2Jld" } },
    { event: "tool_call", data: { callId: "1", name: "read", status: "running", args: { path: "a.ts" } } },
    { event: "result", data: { runId: "r", status: "ERROR", durationMs: 1500, error: { message: "no" } } },
    { event: "done", data: {} },
  ];
  expect(frames.flatMap(render)).toEqual(["Hello", "wor[2Jld", "[read] a.ts", "Failed after 1.5 s: no"]);
});

test("output of commands is shown as its lines come, indented, without what moves a cursor", () => {
  const render = openRenderer();
  const printed = (callId: string, data: string): StreamFrame => ({
    event: "interaction_update",
    data: { type: "shell-output-delta", event: { callId, case: "stdout", value: { data } } },
  });
  const call = (status: "running" | "completed"): StreamFrame => ({
    event: "tool_call",
    data: { callId: "1", name: "run_terminal_cmd", status, args: { command: "make" } },
  });
  expect(render({ event: "assistant", data: { text: "I build" } })).toEqual([]);
  expect(render(call("running"))).toEqual(["I build", "[run_terminal_cmd] make"]);
  expect(render(printed("1", "10 %\r20 %\r\nCompil"))).toEqual(["  20 %"]);
  expect(render(printed("2", "other\n"))).toEqual(["  other"]);
  expect(render(printed("1", "ing\u001b[2J\n\nlast"))).toEqual(["  Compiling[2J", ""]);
  expect(render(call("completed"))).toEqual(["  last"]);
  expect(render({ event: "done", data: {} })).toEqual([]);
});

test("a dropped stream resumes at the last event", async () => {
  const asked: (string | undefined)[] = [];
  const pieces = [
    'id: 1-1\nevent: assistant\ndata: {"text":"a"}\n\nid: 1-2\nevent: assis',
    'id: 1-2\nevent: assistant\ndata: {"text":"b"}\n\n',
    "id: 1-3\nevent: done\ndata: {}\n\n",
  ];
  const url = await serve((answer, lastEventId) => {
    asked.push(lastEventId);
    answer.writeHead(200, { "content-type": "text/event-stream" });
    answer.write(pieces[asked.length - 1], () => answer.destroy());
  });
  const taken: StreamFrame[] = [];
  const take = async (frame: StreamFrame) => void taken.push(frame);
  await followRun({ access: { url, key: "k" }, path: "/stream", take }, new AbortController().signal);
  expect(asked).toEqual([undefined, "1-1", "1-2"]);
  expect(taken.map(({ data }) => data)).toEqual([{ text: "a" }, { text: "b" }, {}]);
});

test("a stream that is refused is not asked for again", async () => {
  let count = 0;
  const url = await serve((answer) => {
    count += 1;
    answer.writeHead(410).end('{"error":{"code":"stream_expired","message":"The stream is no longer kept."}}');
  });
  const following = { access: { url, key: "k" }, path: "/stream", take: async () => {} };
  await expect(followRun(following, new AbortController().signal)).rejects.toThrow("The stream is no longer kept.");
  expect(count).toBe(1);
});

async function serve(answer: (response: ServerResponse, lastEventId: string | undefined) => void): Promise<string> {
  const server = createServer((request, response) => answer(response, request.headers["last-event-id"] as string));
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

test.each([
  ["FINISHED", "Finished", "ready"],
  ["ERROR", "Failed", "error"],
  ["EXPIRED", "Expired", "error"],
  ["CANCELLED", "Cancelled", "cancelled"],
  ["RUNNING", "Running", "pending"],
] as const)("a run that is %s is shown as %s, and to programs as %s", (status, word, forPrograms) => {
  const at = "2026-01-01T00:00:00.000Z";
  const run = { id: "run-1", agentId: "bc-1", status, createdAt: at, updatedAt: at };
  expect([outcomeOf(run), statusOf(run)]).toEqual([word, forPrograms]);
});
