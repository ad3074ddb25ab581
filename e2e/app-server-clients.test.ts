// Several clients on one server: who hears what, and that nothing is lost or doubled.
import { call, say } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { type AppClient, type Body, startServer } from "./app-server-client.ts";
import { messagesOf, runTurn, startTurn, turnEnd } from "./app-server-turns.ts";
import { desk } from "./harness.ts";

const isOfItems = ({ method }: { method: string }) => method.startsWith("item/");

/** What the client knows of the messages of a turn: the snapshot it was given and what it was told since. */
function assembled(snapshot: Body, { heard }: AppClient): Map<string, string> {
  const texts = new Map<string, string>();
  for (const item of snapshot.turns.flatMap((turn: Body) => turn.items))
    if (item.type === "agentMessage") texts.set(item.id, item.text);
  for (const { method, params } of heard) {
    if (method === "item/started" && params.item.type === "agentMessage") texts.set(params.item.id, params.item.text);
    if (method === "item/agentMessage/delta")
      texts.set(params.itemId, `${texts.get(params.itemId) ?? ""}${params.delta}`);
  }
  return texts;
}

test("clients that join in the middle of a reply put the same text together from snapshot and rest", async () => {
  const words = Array.from({ length: 120 }, (_, index) => `word${index}`).join(" ");
  const at = await desk({ replies: [say(words, { deltas: 60, deltaDelayMs: 5 })] });
  const server = await startServer(at, "unix");
  const first = await server.connect("first");
  const { thread } = await first.request("thread/start", {});
  const { id } = await startTurn(first, thread.id, "Speak.");
  await first.told("item/agentMessage/delta");
  const joined = await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      const client = await server.connect(`watcher ${index}`);
      const { thread: snapshot } = await client.request("thread/resume", { threadId: thread.id });
      return { client, snapshot };
    }),
  );
  await Promise.all(joined.map(({ client }) => turnEnd(client, id)));
  for (const { client, snapshot } of joined) {
    expect([...assembled(snapshot, client).values()]).toEqual([words]);
    expect(snapshot.turns).toMatchObject([{ id, status: "inProgress" }]);
    expect(messagesOf(client, "turn/completed")).toHaveLength(1);
    expect(messagesOf(client, "item/completed")).toHaveLength(1);
  }
});

test("only whoever started, resumed or joined a thread hears of it", async () => {
  const at = await desk({ replies: { replies: [say("Yes.")], repeat: "always" } });
  const server = await startServer(at, "unix");
  const [one, other] = [await server.connect("one"), await server.connect("other")];
  const { thread: first } = await one.request("thread/start", {});
  const { thread: second } = await other.request("thread/start", {});
  await Promise.all([runTurn(one, first.id, "One."), runTurn(other, second.id, "Other.")]);
  expect(one.heard.filter(isOfItems).every(({ params }) => params.threadId === first.id)).toBe(true);
  expect(other.heard.filter(isOfItems).every(({ params }) => params.threadId === second.id)).toBe(true);

  await other.request("thread/resume", { threadId: first.id });
  await runTurn(one, first.id, "Again.");
  expect(other.heard.filter(isOfItems).some(({ params }) => params.threadId === first.id)).toBe(true);
  expect(await other.request("thread/unsubscribe", { threadId: first.id })).toEqual({ status: "unsubscribed" });
  expect(await other.request("thread/unsubscribe", { threadId: first.id })).toEqual({ status: "notSubscribed" });
  expect(await other.request("thread/unsubscribe", { threadId: "none" })).toEqual({ status: "notLoaded" });
  const before = other.heard.length;
  await runTurn(one, first.id, "Once more.");
  expect(other.heard.length).toBe(before);
  expect((await other.request("thread/loaded/list", {})).data.sort()).toEqual([first.id, second.id].sort());
});

test("a turn goes on when the client that started it leaves, and another sees its end", async () => {
  const at = await desk({ replies: [call("exec_command", { cmd: "sleep 0.5; echo slept" }), say("Slept.")] });
  const server = await startServer(at, "unix");
  const [leaving, staying] = [await server.connect("leaving"), await server.connect("staying")];
  const { thread } = await leaving.request("thread/start", {});
  const { id } = await startTurn(leaving, thread.id, "Sleep.");
  await staying.request("thread/resume", { threadId: thread.id });
  await leaving.close();
  expect(await turnEnd(staying, id)).toMatchObject({ status: "completed", items: [{ text: "Slept." }] });
});

test("twenty threads of one client work at the same time, each in its own order", async () => {
  const replies = { replies: [say("Ready.", { deltas: 4 })], repeat: "always" as const };
  const at = await desk({ replies });
  const server = await startServer(at, "stdio");
  const client = await server.connect();
  const threads = await Promise.all(Array.from({ length: 20 }, () => client.request("thread/start", {})));
  const ends = await Promise.all(threads.map(({ thread }) => runTurn(client, thread.id, "Go.")));
  expect(ends.every(({ status }) => status === "completed")).toBe(true);
  for (const { thread } of threads) {
    const told = client.heard.filter(({ params }) => params.threadId === thread.id).map(({ method }) => method);
    expect(told.indexOf("turn/started")).toBeLessThan(told.indexOf("item/agentMessage/delta"));
    expect(told.at(-1)).toBe("turn/completed");
  }
});
