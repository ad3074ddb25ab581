// Many threads at once with many watchers: each receives every event of every thread.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { replyWith, waitForExit } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { type Body, listenAddress, type Message, serverToken, summarize } from "./client.ts";

const crowd = process.env.SWEEP === "full" ? { threads: 50, clients: 200 } : { threads: 6, clients: 12 };
const answer = "All of it, and in the right order. ".repeat(20);
const maxMegabytes = 700;

interface Watcher {
  received: Message[];
  request(method: string, params?: object): Promise<Body>;
  /** Resolves when that many turns have ended. */
  ends(count: number): Promise<void>;
}

/** A client that only listens: validating a few hundred thousand messages would starve the model in this process. */
async function watch(where: string, token: string): Promise<Watcher> {
  const socket = new WebSocket(where, { headers: { authorization: `Bearer ${token}` } });
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  const answers = new Map<number, (result: Body) => void>();
  const received: Message[] = [];
  let ended = 0;
  let wake = () => {};
  socket.on("message", (data) => {
    const message = JSON.parse(String(data));
    if (message.method === undefined) return answers.get(message.id)?.(message.result);
    received.push(message);
    if (message.method === "turn/completed") ended++;
    wake();
  });
  const request = (method: string, params: object = {}): Promise<Body> =>
    new Promise((resolve) => {
      const id = answers.size;
      answers.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
  await request("initialize", { clientInfo: { name: "watcher", version: "1" } });
  const ends = (count: number) =>
    new Promise<void>((resolve) => {
      wake = () => ended >= count && resolve();
      wake();
    });
  return { received, request, ends };
}

const textOf = (received: Message[], threadId: string): string =>
  received
    .filter(({ method, params }) => method === "item/agentMessage/delta" && params.threadId === threadId)
    .map(({ params }) => params.delta)
    .join("");

/** Peak memory of the process, in megabytes. */
const peakOf = (pid: number | undefined): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

const title = `${crowd.threads} threads at once, watched by ${crowd.clients} clients: no notification is lost`;
test(title, { timeout: 600_000 }, async () => {
  const { start, home } = await openHarness({
    replies: Array.from({ length: crowd.threads }, () => replyWith(answer, { deltas: 30 })),
  });
  const child = start(["app-server", "--listen", "ws://127.0.0.1:0"]);
  const ending = waitForExit(child);
  const where = await listenAddress(child);
  const everyone = await Promise.all(Array.from({ length: crowd.clients }, () => watch(where, serverToken(home))));
  const [first, ...others] = everyone as [Watcher, ...Watcher[]];
  const ids: string[] = [];
  for (let count = 0; count < crowd.threads; count++) ids.push((await first.request("thread/start")).thread.id);
  for (const other of others) await Promise.all(ids.map((threadId) => other.request("thread/resume", { threadId })));
  const input = [{ type: "text", text: "Say it." }];
  await Promise.all(ids.map((threadId) => first.request("turn/start", { threadId, input })));
  await Promise.all(everyone.map((watcher) => watcher.ends(crowd.threads)));

  const peak = peakOf(child.pid);
  const count = everyone.reduce((sum, watcher) => sum + watcher.received.length, 0);
  console.log(`${title}: ${count} notifications, ${Math.round(peak)} MB at most`);
  const summaryOf = (watcher: Watcher, threadId: string) =>
    summarize(watcher.received, threadId).filter((line) => line !== "thread/started");
  for (const threadId of ids) {
    const summary = summaryOf(first, threadId);
    expect(summary.at(-1)).toBe("turn/completed(completed)");
    for (const watcher of everyone) {
      expect(summaryOf(watcher, threadId)).toEqual(summary);
      expect(textOf(watcher.received, threadId)).toBe(answer);
    }
  }
  expect(peak).toBeLessThan(maxMegabytes);
  child.kill("SIGTERM");
  expect(await ending).toMatchObject({ code: 143 });
});
