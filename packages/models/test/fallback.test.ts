import type { ModelProgress, ModelRequest } from "@agentcli/engine";
import { fault, type Reply, replyWith, startModelServer } from "@agentcli/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { type FallbackModel, withFallback } from "../src/fallback.ts";
import { openModel } from "../src/index.ts";
import { plainRequest, testProvider, type WireName } from "./harness.ts";

const wires = ["responses", "chat", "anthropic"] as const;

/** One server; replies are those of the model that a request names. */
async function openChain(wire: WireName, replies: Record<string, Reply[]>, contextWindow = 100_000) {
  const server = await startModelServer((body) => replies[JSON.parse(body).model]?.shift());
  onTestFinished(() => server.close());
  const waits: number[] = [];
  const provider = { ...testProvider(server.url, wire), requestMaxRetries: 1 };
  const delay = async (ms: number, signal: AbortSignal) => {
    if (!signal.aborted) waits.push(ms);
  };
  const main = openModel(provider, { clientName: "agentcli", clientVersion: "1", random: () => 0.5, delay });
  const names = Object.keys(replies).slice(1);
  const chain = names.map((name): FallbackModel => ({ label: name, name, model: main, contextWindow }));
  const model = withFallback(main, chain);
  return {
    waits,
    asked: () => server.requests().map(({ body }) => (body as { model: string }).model),
    async ask(request: Partial<ModelRequest> = {}) {
      const progress: ModelProgress[] = [];
      const collect = (update: ModelProgress) => void progress.push(update);
      const all = { ...plainRequest, model: Object.keys(replies)[0] ?? "", ...request };
      const reply = await model.reply(all, collect, new AbortController().signal);
      return { reply, replaced: progress.flatMap((each) => (each.type === "retrying" && each.instead) || []) };
    },
  };
}

describe.each(wires)("model_fallback on the %s wire", (wire) => {
  test("an overloaded model is replaced for the rest of the turn, and asked again in the next", async () => {
    const { ask, asked } = await openChain(wire, {
      main: [fault(503), fault(503), replyWith("from main")],
      second: [replyWith("one"), replyWith("two")],
    });
    const first = await ask();
    expect(first).toMatchObject({ reply: { kind: "replied", blocks: [{ text: "one" }] }, replaced: ["second"] });
    expect(await ask()).toMatchObject({ reply: { blocks: [{ text: "two" }] }, replaced: [] });
    expect(await ask({ turnId: "turn-2" })).toMatchObject({ reply: { blocks: [{ text: "from main" }] } });
    expect(asked()).toEqual(["main", "main", "second", "second", "main"]);
  });

  test("the whole chain is asked in order, and the last failure is the one that is reported", async () => {
    const { ask, asked } = await openChain(wire, {
      main: [fault(429, { body: { error: { code: "insufficient_quota", message: "used up" } } })],
      second: [fault(402, { body: { error: { message: "Insufficient Balance" } } })],
      third: [fault(503, { body: { error: { message: "third is full" } } }), fault(503)],
    });
    const { reply, replaced } = await ask();
    expect(reply).toMatchObject({ kind: "fault", fault: { code: "overloaded" } });
    expect(replaced).toEqual(["second", "third"]);
    expect(asked()).toEqual(["main", "second", "third", "third"]);
  });

  test("a provider that asks for a long delay is not waited for", async () => {
    const { ask, waits } = await openChain(wire, {
      main: [fault(429, { headers: { "retry-after": "30" } })],
      second: [replyWith("at once")],
    });
    expect(await ask()).toMatchObject({ reply: { blocks: [{ text: "at once" }] }, replaced: ["second"] });
    expect(waits).toEqual([]);
  });

  test("a conversation that is too long for the next model is to be compacted first", async () => {
    const { ask, asked } = await openChain(
      wire,
      { main: [fault(503), fault(503)], second: [replyWith("short enough")] },
      1_000,
    );
    const messages = [{ role: "user" as const, parts: [{ type: "text" as const, text: "word ".repeat(2_000) }] }];
    expect(await ask({ messages })).toMatchObject({
      reply: { kind: "fault", fault: { code: "context_window", maxTokens: 900 } },
      replaced: ["second"],
    });
    expect(await ask()).toMatchObject({ reply: { blocks: [{ text: "short enough" }] } });
    expect(asked()).toEqual(["main", "main", "second"]);
  });

  test("a refused key and an invalid request are reported, not passed on to another model", async () => {
    for (const status of [400, 401]) {
      const { ask, asked } = await openChain(wire, { main: [fault(status)], second: [] });
      expect(await ask()).toMatchObject({ reply: { kind: "fault" }, replaced: [] });
      expect(asked()).toEqual(["main"]);
    }
  });
});
