import { request } from "node:http";
import { afterEach, expect, test } from "vitest";
import {
  call,
  cut,
  fail,
  fault,
  freeform,
  incomplete,
  type ModelServer,
  type Reply,
  replyWith,
  type Script,
  startModelServer,
} from "../src/index.ts";

let server: ModelServer | undefined;
afterEach(() => server?.close());

interface Got {
  status: number;
  text: string;
  ending: "whole" | "cut";
}

async function start(script: Script | Reply[]): Promise<ModelServer> {
  server = await startModelServer(script);
  return server;
}

function post(url: string, body: unknown, method = "POST"): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (piece) => {
        text += piece;
      });
      answer.on("error", () => {});
      answer.on("close", () =>
        resolve({ status: answer.statusCode ?? 0, text, ending: answer.complete ? "whole" : "cut" }),
      );
    });
    sent.on("error", reject);
    sent.end(typeof body === "string" ? body : JSON.stringify(body));
  });
}

const streamed = { model: "m", stream: true, stream_options: { include_usage: true } };
const dataLines = (text: string): string[] =>
  text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
const types = (text: string) => dataLines(text).map((line) => JSON.parse(line).type);

test("a Responses answer streams items as events and ends with the usage", async () => {
  const { url } = await start([
    {
      reasoning: { summary: ["Thinking"], encrypted: "secret" },
      messages: ["Hello there"],
      deltas: 2,
      calls: [{ name: "apply_patch", arguments: "*** Begin Patch", freeform: true }],
      usage: { cachedInputTokens: 40 },
    },
  ]);
  const { text } = await post(`${url}/responses`, streamed);
  expect(types(text)).toEqual([
    "response.created",
    "response.output_item.added",
    "response.reasoning_summary_text.delta",
    "response.output_item.done",
    "response.output_item.added",
    "response.output_text.delta",
    "response.output_text.delta",
    "response.output_item.done",
    "response.output_item.added",
    "response.custom_tool_call_input.delta",
    "response.custom_tool_call_input.delta",
    "response.output_item.done",
    "response.completed",
  ]);
  expect(JSON.parse(dataLines(text).at(-1) ?? "").response.usage).toEqual({
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 40, cache_write_tokens: 0 },
    output_tokens: 10,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 110,
  });
});

test("a chat answer streams chunks, then the finish reason, the usage and the end mark", async () => {
  const { url } = await start([call("exec_command", { cmd: "ls" }, { messages: ["Looking"], deltas: 2 })]);
  const { text } = await post(`${url}/chat/completions`, streamed);
  const lines = dataLines(text);
  expect(lines.at(-1)).toBe("[DONE]");
  const chunks = lines.slice(0, -1).map((line) => JSON.parse(line));
  expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe("Looking");
  const pieces = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
  expect(pieces[0]).toMatchObject({ index: 0, id: "call_0_0", function: { name: "exec_command", arguments: "" } });
  expect(pieces.map((piece) => piece.function.arguments).join("")).toBe('{"cmd":"ls"}');
  expect(chunks.at(-2)?.choices[0].finish_reason).toBe("tool_calls");
  expect(chunks.at(-1)?.usage.prompt_tokens).toBe(100);
});

test("a request that does not ask for a stream gets one JSON object on both wires", async () => {
  const { url } = await start([replyWith("one"), freeform("apply_patch", "patch")]);
  const first = JSON.parse((await post(`${url}/responses`, { model: "m" })).text);
  const second = JSON.parse((await post(`${url}/chat/completions`, { model: "m" })).text);
  expect(first.output[0].content[0].text).toBe("one");
  expect(second.choices[0].message.tool_calls[0].function.arguments).toBe('{"input":"patch"}');
});

test("replies are used in order and an exhausted script responds with 500 and a message", async () => {
  const { url } = await start([replyWith("first"), replyWith("second")]);
  const ask = () => post(`${url}/responses`, streamed);
  expect((await ask()).text).toContain("first");
  expect((await ask()).text).toContain("second");
  const third = await ask();
  expect(third.status).toBe(500);
  expect(third.text).toContain("script is exhausted");
});

test.each([
  { repeat: "last" as const, texts: ["a", "b", "b", "b"] },
  { repeat: "loop" as const, texts: ["a", "b", "a", "b"] },
])("a script that repeats $repeat continues after its end", async ({ repeat, texts }) => {
  const { url } = await start({ replies: [replyWith("a"), replyWith("b")], repeat });
  const got: string[] = [];
  for (const _ of texts) {
    got.push(JSON.parse((await post(`${url}/responses`, {})).text).output[0].content[0].text);
  }
  expect(got).toEqual(texts);
});

test("a reply with a condition waits for the request that meets it", async () => {
  const { url } = await start([replyWith("about cats", { when: { bodyIncludes: "cats" } }), replyWith("anything")]);
  expect((await post(`${url}/responses`, { input: "dogs" })).text).toContain("anything");
  expect((await post(`${url}/responses`, { input: "cats" })).text).toContain("about cats");
});

test("scripted faults look like faults of a real server", async () => {
  const { url } = await start([
    fault(429, { headers: { "retry-after": "7" }, body: { error: { message: "slow down" } } }),
    cut(3),
    cut("half"),
    fail("server_is_overloaded", "busy"),
    incomplete("max_output_tokens"),
  ]);
  const ask = () => post(`${url}/responses`, streamed);
  expect(await ask()).toMatchObject({ status: 429, text: '{"error":{"message":"slow down"}}' });
  const cutAfterEvents = await ask();
  expect(cutAfterEvents.ending).toBe("cut");
  expect(types(cutAfterEvents.text)).toHaveLength(3);
  const cutInHalf = await ask();
  expect(cutInHalf.ending).toBe("cut");
  expect(cutInHalf.text.length).toBeGreaterThan(100);
  expect(types((await ask()).text).at(-1)).toBe("response.failed");
  expect(types((await ask()).text).at(-1)).toBe("response.incomplete");
});

test("closing the server ends a stalled reply", async () => {
  const { url, close } = await start([{ messages: ["never"], stall: 2 }]);
  const answer = post(`${url}/responses`, streamed);
  await expect.poll(() => server?.requests().length).toBe(1);
  await close();
  server = undefined;
  expect((await answer).ending).toBe("cut");
});

test("a large reply arrives whole in as many deltas as the script says", async () => {
  const { url } = await start([{ text: { bytes: 50_000, deltas: 5_000 } }]);
  const { text } = await post(`${url}/chat/completions`, streamed);
  const deltas = dataLines(text)
    .slice(1, -3)
    .map((line) => JSON.parse(line).choices[0].delta.content);
  expect(deltas).toHaveLength(5_000);
  expect(deltas.join("")).toHaveLength(50_000);
});

test("requests are logged with method, path, headers and body, and models are listed", async () => {
  const { url, requests } = await start([replyWith("hi")]);
  expect(JSON.parse((await post(`${url}/models`, "", "GET")).text).data).toHaveLength(1);
  await post(`${url}/responses?api=1`, { model: "m" });
  expect((await post(`${url}/responses`, "{")).status).toBe(400);
  expect((await post(`${url}/nowhere`, {})).status).toBe(404);
  expect(requests().map(({ index, method, path, body }) => [index, method, path, body])).toEqual([
    [0, "GET", "/v1/models", ""],
    [1, "POST", "/v1/responses?api=1", { model: "m" }],
    [2, "POST", "/v1/responses", "{"],
    [3, "POST", "/v1/nowhere", {}],
  ]);
  expect(requests()[0]?.headers.host).toMatch(/^127\.0\.0\.1/);
});
