// Threads: listed, named, forked, archived, unarchived, deleted.
import { existsSync } from "node:fs";
import { replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";
import { startServer } from "./client.ts";
import { runTurn } from "./turns.ts";

async function withThreads(count: number) {
  const harness = await openHarness({ replies: { replies: [replyWith("Yes.")], repeat: "always" } });
  const server = await startServer(harness, "stdio");
  const client = await server.connect();
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const { thread } = await client.request("thread/start", {});
    await runTurn(client, thread.id, `Number ${index}.`);
    ids.push(thread.id);
  }
  return { harness, client, ids };
}

test("pages of a list neither repeat nor omit threads", async () => {
  const { client, ids } = await withThreads(5);
  const seen: string[] = [];
  for (let cursor: string | null = null; ; ) {
    const page: { data: { id: string }[]; nextCursor: string | null } = await client.request("thread/list", {
      limit: 2,
      cursor,
    });
    seen.push(...page.data.map(({ id }) => id));
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  expect(seen).toEqual([...ids].reverse());
  const oldest = await client.request("thread/list", { limit: 1, sortDirection: "asc" });
  expect(oldest.data[0]).toMatchObject({ id: ids[0], preview: "Number 0.", status: { type: "idle" } });
  expect((await client.request("thread/list", { searchTerm: "number 3" })).data).toMatchObject([{ id: ids[3] }]);
  expect((await client.request("thread/list", { cwd: "/elsewhere" })).data).toEqual([]);
  const pinned = { sectionId: "01984de2-8f74-7c91-a3b2-5c5e937cf318", sortKey: "section_position" };
  expect((await client.request("thread/list", pinned)).data).toEqual([]);
});

test("a thread is named, archived, unarchived and deleted", async () => {
  const { client, ids } = await withThreads(1);
  const [threadId = ""] = ids;
  await client.request("thread/name/set", { threadId, name: "first try" });
  expect(await client.notification("thread/name/updated")).toMatchObject({
    params: { threadId, threadName: "first try" },
  });
  await client.request("thread/archive", { threadId });
  expect((await client.request("thread/list", {})).data).toEqual([]);
  expect((await client.request("thread/list", { archived: true })).data).toMatchObject([
    { id: threadId, name: "first try" },
  ]);
  await expect(client.request("thread/resume", { threadId })).rejects.toThrow(/thread not found/);
  const { thread } = await client.request("thread/unarchive", { threadId });
  expect(thread).toMatchObject({ id: threadId, status: { type: "notLoaded" } });
  await client.request("thread/resume", { threadId });
  expect((await runTurn(client, threadId, "Again.")).status).toBe("completed");
  await client.request("thread/delete", { threadId });
  expect(existsSync(thread.path)).toBe(false);
  await expect(client.request("thread/read", { threadId })).rejects.toThrow(/thread not found/);
});

test("two threads may have the same name, of which the command line resumes neither", async () => {
  const { harness, client, ids } = await withThreads(2);
  for (const threadId of ids) await client.request("thread/name/set", { threadId, name: "same title" });
  const { data } = await client.request("thread/list", { searchTerm: "same title" });
  expect(data.map(({ id }: { id: string }) => id).sort()).toEqual([...ids].sort());
  const { code, stderr } = await harness.run(["exec", "resume", "same title", "go on"]);
  expect(code).toBe(2);
  expect(stderr).toContain("same title matches 2 sessions. Give the id of one");
  for (const id of ids) expect(stderr).toContain(id);
});

test("a fork starts with the turns up to the named one, and is independent", async () => {
  const { harness, client, ids } = await withThreads(1);
  const [threadId = ""] = ids;
  await runTurn(client, threadId, "Second.");
  const { thread: whole } = await client.request("thread/read", { threadId, includeTurns: true });
  const { thread } = await client.request("thread/fork", { threadId, lastTurnId: whole.turns[0].id });
  expect(thread).toMatchObject({ forkedFromId: threadId, turns: [{ id: whole.turns[0].id }] });
  await runTurn(client, thread.id, "Third.");
  const body = JSON.stringify(harness.requests().at(-1)?.body);
  expect(body).toContain("Number 0.");
  expect(body).not.toContain("Second.");
  const { thread: untouched } = await client.request("thread/read", { threadId, includeTurns: true });
  expect(untouched.turns).toHaveLength(2);
});

test("an unknown thread is refused with its id", async () => {
  const { client } = await withThreads(0);
  const missingThread = "00000000-0000-7000-8000-000000000000";
  for (const method of [
    "thread/resume",
    "thread/read",
    "thread/fork",
    "thread/archive",
    "thread/unarchive",
    "thread/delete",
  ])
    await expect(client.request(method, { threadId: missingThread })).rejects.toMatchObject({
      code: -32600,
      message: `thread not found: ${missingThread}`,
    });
  await expect(client.request("thread/rollback", { threadId: missingThread, numTurns: 1 })).rejects.toMatchObject({
    code: -32601,
  });
});
