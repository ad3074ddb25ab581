// Many threads at once and many who watch them: everyone hears the whole story of every thread.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { say } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { type Body, listening, type Message, story } from "./app-server-client.ts";
import { desk, ended } from "./harness.ts";

const crowd = process.env.SWEEP === "full" ? { threads: 50, clients: 200 } : { threads: 6, clients: 12 };
const answer = "All of it, and in the right order. ".repeat(20);
const megabytes = { most: 700 };

interface Watcher {
  heard: Message[];
  request(method: string, params?: object): Promise<Body>;
  /** Settles when so many turns have ended. */
  ends(count: number): Promise<void>;
}

/** A client that only listens: checking each of a few hundred thousand messages would starve the model beside it. */
async function watch(where: string): Promise<Watcher> {
  const socket = new WebSocket(where);
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  const answers = new Map<number, (result: Body) => void>();
  const heard: Message[] = [];
  let ended = 0;
  let wake = () => {};
  socket.on("message", (data) => {
    const message = JSON.parse(String(data));
    if (message.method === undefined) return answers.get(message.id)?.(message.result);
    heard.push(message);
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
  return { heard, request, ends };
}

const textOf = (heard: Message[], threadId: string): string =>
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
  const everyone = await Promise.all(Array.from({ length: crowd.clients }, () => watch(where)));
  const [first, ...others] = everyone as [Watcher, ...Watcher[]];
  const ids: string[] = [];
  for (let count = 0; count < crowd.threads; count++) ids.push((await first.request("thread/start")).thread.id);
  for (const other of others) await Promise.all(ids.map((threadId) => other.request("thread/resume", { threadId })));
  const input = [{ type: "text", text: "Say it." }];
  await Promise.all(ids.map((threadId) => first.request("turn/start", { threadId, input })));
  await Promise.all(everyone.map((watcher) => watcher.ends(crowd.threads)));

  const peak = peakOf(child.pid);
  const heard = everyone.reduce((sum, watcher) => sum + watcher.heard.length, 0);
  console.log(`${title}: ${heard} notifications, ${Math.round(peak)} MB at most`);
  const toldOf = (watcher: Watcher, threadId: string) =>
    story(watcher.heard, threadId).filter((line) => line !== "thread/started");
  for (const threadId of ids) {
    const told = toldOf(first, threadId);
    expect(told.at(-1)).toBe("turn/completed(completed)");
    for (const watcher of everyone) {
      expect(toldOf(watcher, threadId)).toEqual(told);
      expect(textOf(watcher.heard, threadId)).toBe(answer);
    }
  }
  expect(peak).toBeLessThan(megabytes.most);
  child.kill("SIGTERM");
  expect(await ending).toMatchObject({ code: 143 });
});
