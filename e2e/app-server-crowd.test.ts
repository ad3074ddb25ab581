// Many threads at once and many who watch them: everyone hears the whole story of every thread.
import { readFileSync } from "node:fs";
import { say } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { type AppClient, connectTo, listening, story } from "./app-server-client.ts";
import { desk, ended } from "./harness.ts";

const crowd = process.env.SWEEP === "full" ? { threads: 50, clients: 200 } : { threads: 6, clients: 12 };
const answer = "All of it, and in the right order. ".repeat(20);
const megabytes = { most: 700 };

const textOf = ({ heard }: AppClient, threadId: string): string =>
  heard
    .filter(({ method, params }) => method === "item/agentMessage/delta" && params.threadId === threadId)
    .map(({ params }) => params.delta)
    .join("");

/** The most memory the process has had, in megabytes. */
const peakOf = (pid: number | undefined): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

const title = `${crowd.threads} threads at once, watched by ${crowd.clients} clients: no notification is lost`;
test(title, { timeout: 600_000 }, async () => {
  const { start } = await desk({ replies: Array.from({ length: crowd.threads }, () => say(answer, { deltas: 30 })) });
  const child = start(["app-server", "--listen", "ws://127.0.0.1:0"]);
  const ending = ended(child);
  const where = await listening(child);
  const first = await connectTo(where);
  const ids: string[] = [];
  for (let count = 0; count < crowd.threads; count++) ids.push((await first.request("thread/start")).thread.id);
  const watchers = await Promise.all(Array.from({ length: crowd.clients - 1 }, () => connectTo(where)));
  for (const watcher of watchers)
    await Promise.all(ids.map((threadId) => watcher.request("thread/resume", { threadId })));

  const everyone = [first, ...watchers];
  const input = [{ type: "text", text: "Say it." }];
  await Promise.all(ids.map((threadId) => first.request("turn/start", { threadId, input })));
  const isEnd = (threadId: string) => (message: { method: string; params: { threadId?: string } }) =>
    message.method === "turn/completed" && message.params.threadId === threadId;
  await Promise.all(everyone.flatMap((client) => ids.map((threadId) => client.until(isEnd(threadId)))));

  const peak = peakOf(child.pid);
  const heard = everyone.reduce((sum, client) => sum + client.heard.length, 0);
  console.log(`${title}: ${heard} notifications, ${Math.round(peak)} MB at most`);
  const turnOf = (client: AppClient, threadId: string) =>
    story(client.heard, threadId).filter((line) => line !== "thread/started");
  for (const threadId of ids) {
    const told = turnOf(first, threadId);
    expect(told.at(-1)).toBe("turn/completed(completed)");
    for (const client of everyone) {
      expect(turnOf(client, threadId)).toEqual(told);
      expect(textOf(client, threadId)).toBe(answer);
    }
  }
  expect(peak).toBeLessThan(megabytes.most);
  child.kill("SIGTERM");
  expect(await ending).toMatchObject({ code: 143 });
});
