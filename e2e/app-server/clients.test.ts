// Several clients on one server: who receives what, without loss or duplicates.
import { call, replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";
import { type AppClient, type Body, startServer } from "./client.ts";
import { messagesOf, runTurn, startTurn, turnEnd } from "./turns.ts";

const isOfItems = ({ method }: { method: string }) => method.startsWith("item/");

/** The messages of a turn as the client knows them: its snapshot and the notifications since. */
function assembled(snapshot: Body, { received }: AppClient): Map<string, string> {
  const texts = new Map<string, string>();
  for (const item of snapshot.turns.flatMap((turn: Body) => turn.items))
    if (item.type === "agentMessage") texts.set(item.id, item.text);
  for (const { method, params } of received) {
    if (method === "item/started" && params.item.type === "agentMessage") texts.set(params.item.id, params.item.text);
    if (method === "item/agentMessage/delta")
      texts.set(params.itemId, `${texts.get(params.itemId) ?? ""}${params.delta}`);
  }
  return texts;
}

test("clients that join in the middle of a reply assemble the same text from snapshot and deltas", async () => {
  const words = Array.from({ length: 120 }, (_, index) => `word${index}`).join(" ");
  const harness = await openHarness({ replies: [replyWith(words, { deltas: 60, deltaDelayMs: 5 })] });
  const server = await startServer(harness, "unix");
  const first = await server.connect("first");
  const { thread } = await first.request("thread/start", {});
  const { id } = await startTurn(first, thread.id, "Speak.");
  await first.notification("item/agentMessage/delta");
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

test("only clients that started, resumed or joined a thread receive its notifications", async () => {
  const harness = await openHarness({ replies: { replies: [replyWith("Yes.")], repeat: "always" } });
  const server = await startServer(harness, "unix");
  const [one, other] = [await server.connect("one"), await server.connect("other")];
  const { thread: first } = await one.request("thread/start", {});
  const { thread: second } = await other.request("thread/start", {});
  await Promise.all([runTurn(one, first.id, "One."), runTurn(other, second.id, "Other.")]);
  expect(one.received.filter(isOfItems).every(({ params }) => params.threadId === first.id)).toBe(true);
  expect(other.received.filter(isOfItems).every(({ params }) => params.threadId === second.id)).toBe(true);

  await other.request("thread/resume", { threadId: first.id });
  await runTurn(one, first.id, "Again.");
  expect(other.received.filter(isOfItems).some(({ params }) => params.threadId === first.id)).toBe(true);
  expect(await other.request("thread/unsubscribe", { threadId: first.id })).toEqual({ status: "unsubscribed" });
  expect(await other.request("thread/unsubscribe", { threadId: first.id })).toEqual({ status: "notSubscribed" });
  expect(await other.request("thread/unsubscribe", { threadId: "none" })).toEqual({ status: "notLoaded" });
  const before = other.received.length;
  await runTurn(one, first.id, "Again.");
  expect(other.received.length).toBe(before);
  expect((await other.request("thread/loaded/list", {})).data.sort()).toEqual([first.id, second.id].sort());
});

test("a turn continues when the client that started it disconnects, and another sees its end", async () => {
  const harness = await openHarness({
    replies: [call("exec_command", { cmd: "sleep 0.5; echo slept" }), replyWith("Slept.")],
  });
  const server = await startServer(harness, "unix");
  const [leaving, staying] = [await server.connect("leaving"), await server.connect("staying")];
  const { thread } = await leaving.request("thread/start", {});
  const { id } = await startTurn(leaving, thread.id, "Sleep.");
  await staying.request("thread/resume", { threadId: thread.id });
  await leaving.close();
  expect(await turnEnd(staying, id)).toMatchObject({ status: "completed", items: [{ text: "Slept." }] });
});

test("twenty threads of one client run at the same time, each with its events in order", async () => {
  const replies = { replies: [replyWith("Ready.", { deltas: 4 })], repeat: "always" as const };
  const harness = await openHarness({ replies });
  const server = await startServer(harness, "stdio");
  const client = await server.connect();
  const threads = await Promise.all(Array.from({ length: 20 }, () => client.request("thread/start", {})));
  const ends = await Promise.all(threads.map(({ thread }) => runTurn(client, thread.id, "Go.")));
  expect(ends.every(({ status }) => status === "completed")).toBe(true);
  for (const { thread } of threads) {
    const methods = client.received.filter(({ params }) => params.threadId === thread.id).map(({ method }) => method);
    expect(methods.indexOf("turn/started")).toBeLessThan(methods.indexOf("item/agentMessage/delta"));
    expect(methods.at(-1)).toBe("turn/completed");
  }
});
