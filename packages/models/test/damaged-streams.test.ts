import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  drive,
  emptyThread,
  freeze,
  type Model,
  noRepository,
  openLog,
  policyGuard,
  type SessionStore,
  type StoredRecord,
  type Tool,
} from "@agentcli/engine";
import type { TurnSettings } from "@agentcli/protocol";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { openModel } from "../src/index.ts";
import { plainRequest, testProvider, type WireName } from "./harness.ts";

const numRuns = Number(process.env.FUZZ_RUNS ?? 20);
const never = new AbortController().signal;

/** What follows the events of a stream: its end, or a server that only keeps the connection alive. */
type Tail = "end" | "comments" | "single bytes" | "events without data" | "keep-alive events" | "silence";
interface Stream {
  events: string[];
  tail: Tail;
}

const noise: Record<Tail, string> = {
  end: "",
  comments: ": keep-alive\n\n",
  "single bytes": "x",
  "events without data": "event: ping\n\n",
  "keep-alive events": 'data: {"type":"ping"}\n\ndata: {"type":"keepalive"}\n\n',
  silence: "",
};

/** Sends the given stream once, and healthy ones from then on. */
async function serveStreams(wire: WireName, callCount: number): Promise<{ model: Model; send(stream: Stream): void }> {
  let damaged: Stream | undefined;
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const isAnswered = /function_call_output|"role":"tool"|tool_result/.test(body);
    const stream = damaged ?? { events: isAnswered ? finalMessage(wire) : callEvents(wire, callCount), tail: "end" };
    damaged = undefined;
    play(stream, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const provider = testProvider(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, wire);
  const client = { clientName: "test", clientVersion: "1", random: () => 0.5, delay: async () => {} };
  return {
    // On a busy machine a healthy stream may meet this limit too: enough retries make that a delay only.
    model: openModel({ ...provider, idleMs: 100, streamMaxRetries: 100 }, client),
    send(stream) {
      damaged = stream;
    },
  };
}

function play({ events, tail }: Stream, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(events.map((data) => `data: ${data}\n\n`).join(""));
  if (tail === "end") return void response.end();
  if (tail === "single bytes") response.write("data: ");
  const timer = setInterval(() => noise[tail] && response.write(noise[tail]), 5);
  response.on("close", () => clearInterval(timer));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
}

function callEvents(wire: WireName, count: number): string[] {
  const numbers = Array.from({ length: count }, (_, index) => index);
  if (wire === "anthropic") return messageEvents(numbers.flatMap(toolUseEvents), "tool_use");
  if (wire === "chat") {
    const chunk = (delta: object, finish: string | null = null) =>
      JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] });
    const calls = numbers.flatMap((index) => {
      const piece = (fields: object) => chunk({ tool_calls: [{ index, ...fields }] });
      const begin = { id: `call_${index}`, type: "function", function: { name: "act", arguments: "" } };
      return [
        piece(begin),
        piece({ function: { arguments: '{"number":' } }),
        piece({ function: { arguments: `${index}}` } }),
      ];
    });
    return [chunk({ role: "assistant", content: "" }), ...calls, chunk({}, "tool_calls"), "[DONE]"];
  }
  const item = (index: number, args: string) => ({
    type: "function_call",
    id: `fc_${index}`,
    call_id: `call_${index}`,
    name: "act",
    arguments: args,
  });
  const done = (index: number) => item(index, `{"number":${index}}`);
  const items = numbers.flatMap((index) => [
    { type: "response.output_item.added", output_index: index, item: item(index, "") },
    { type: "response.function_call_arguments.delta", output_index: index, delta: "{" },
    { type: "response.output_item.done", output_index: index, item: done(index) },
  ]);
  const response = { id: "resp", output: numbers.map(done), usage: { input_tokens: 1, output_tokens: 1 } };
  return [{ type: "response.created" }, ...items, { type: "response.completed", response }].map((event, sequence) =>
    JSON.stringify({ ...event, sequence_number: sequence }),
  );
}

const toolUseEvents = (index: number): object[] => {
  const grow = (json: string) => ({
    type: "content_block_delta",
    index,
    delta: { type: "input_json_delta", partial_json: json },
  });
  const content_block = { type: "tool_use", id: `call_${index}`, name: "act", input: {} };
  return [
    { type: "content_block_start", index, content_block },
    grow('{"number":'),
    grow(`${index}}`),
    { type: "content_block_stop", index },
  ];
};

const messageEvents = (content: object[], stop_reason: string): string[] =>
  [
    { type: "message_start", message: { usage: { input_tokens: 1 } } },
    ...content,
    { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ].map((event) => JSON.stringify(event));

const finalMessage = (wire: WireName): string[] =>
  wire === "anthropic"
    ? messageEvents(
        [
          { type: "content_block_start", index: 0, content_block: { type: "text", text: "Done." } },
          { type: "content_block_stop", index: 0 },
        ],
        "end_turn",
      )
    : finalOpenAiMessage(wire);

const finalOpenAiMessage = (wire: "chat" | "responses"): string[] =>
  wire === "chat"
    ? [JSON.stringify({ choices: [{ delta: { content: "Done." }, finish_reason: "stop" }] }), "[DONE]"]
    : [
        JSON.stringify({
          type: "response.output_item.done",
          output_index: 0,
          item: { type: "message", id: "msg", content: [{ type: "output_text", text: "Done." }] },
        }),
        JSON.stringify({ type: "response.completed", response: {} }),
      ];

/** A turn with this model; returns how often each number was acted on, and how the turn ended. */
async function runTurn(model: Model): Promise<{ acts: Map<number, number>; status: string | undefined }> {
  const acts = new Map<number, number>();
  const tools = [actTool(acts)];
  const settings: TurnSettings = {
    model: "gpt-5.4",
    provider: "test",
    cwd: "/",
    shell: "/bin/sh",
    sandbox: "workspace-write",
    approval: "never",
  };
  const environment = { date: "", timezone: "", writableRoots: [], network: false, rules: [], catalogues: [] };
  const log = openLog(emptyThread("thread"), { store: memoryStore(), emit() {} });
  const frozen = freeze(settings, environment, tools, { freeformTools: false });
  await log.write(
    { type: "thread.created", threadId: "thread", frozen, settings, program: { name: "test", version: "0" } },
    { type: "turn.begun", turnId: "turn", input: [{ type: "text", text: "Act" }], settings },
  );
  const workspace = { incarnation: "one", root: "/", release: async () => {} };
  const { end } = await drive(
    log,
    {
      model,
      workspace: workspace as unknown as Parameters<typeof drive>[1]["workspace"],
      tools,
      guard: policyGuard,
      repository: noRepository,
      toolTimeoutMs: null,
      toolOutputTokens: 10_000,
      costOf: () => null,
      wait: async () => {},
      requestOptions: {},
      onProgress() {},
    },
    never,
  );
  return { acts, status: end?.status };
}

const actTool = (acts: Map<number, number>): Tool => ({
  name: "act",
  onResume: "once",
  parallel: true,
  spec: () => ({ form: "function", name: "act", description: "", parameters: {} }),
  parse(input) {
    const number = /^\{"number":(\d+)\}$/.exec(input)?.[1];
    return number === undefined ? { kind: "problem", message: "no number" } : { kind: "arguments", args: number };
  },
  async run(args) {
    acts.set(Number(args), (acts.get(Number(args)) ?? 0) + 1);
    return { status: "completed", parts: [], detail: { kind: "none" } };
  },
});

function memoryStore(): SessionStore {
  const records: StoredRecord[] = [];
  return {
    async append(_, after, added) {
      const stored = added.map((record, index) => ({ seq: after + index + 1, at: "", record }));
      records.push(...stored);
      return stored;
    },
    async *read() {
      yield records;
    },
  };
}

const callCount = 3;
const position = fc.nat({ max: 30 });
const damage = fc.record({
  repeats: fc.array(fc.tuple(position, position), { maxLength: 6 }),
  swaps: fc.array(fc.tuple(position, position), { maxLength: 3 }),
  cutAt: fc.option(position),
  tail: fc.constantFrom<Tail>(
    "end",
    "end",
    "end",
    "end",
    "comments",
    "single bytes",
    "events without data",
    "keep-alive events",
    "silence",
  ),
});
type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

function damagedStream(wire: WireName, { repeats, swaps, cutAt, tail }: Damage): Stream {
  const events = callEvents(wire, callCount);
  const at = (index: number) => index % events.length;
  for (const [left, right] of swaps) {
    const [first, second] = [events[at(left)], events[at(right)]];
    Object.assign(events, { [at(left)]: second, [at(right)]: first });
  }
  for (const [from, to] of repeats) events.splice(at(to) + 1, 0, events[at(from)] ?? "");
  return { events: cutAt === null ? events : events.slice(0, at(cutAt)), tail };
}

test.each([
  { wire: "responses", everyCall: "once" },
  { wire: "chat", everyCall: "at most once" },
  { wire: "anthropic", everyCall: "at most once" },
] as const)(
  "however a $wire stream repeats, reorders, cuts or stalls, a turn ends and acts on every call $everyCall",
  async ({ wire, everyCall }) => {
    const { model, send } = await serveStreams(wire, callCount);
    await fc.assert(
      fc.asyncProperty(damage, async (changes) => {
        send(damagedStream(wire, changes));
        const { acts, status } = await runTurn(model);
        expect(["completed", "failed"]).toContain(status);
        expect(Math.max(0, ...acts.values())).toBeLessThanOrEqual(1);
        if (everyCall === "once") expect([...acts.keys()].sort()).toEqual([0, 1, 2]);
      }),
      { numRuns },
    );
  },
);

test.each([
  ["responses", "comments"],
  ["responses", "single bytes"],
  ["responses", "events without data"],
  ["chat", "comments"],
  ["chat", "single bytes"],
  ["chat", "keep-alive events"],
  ["responses", "keep-alive events"],
  ["anthropic", "comments"],
  ["anthropic", "single bytes"],
  ["anthropic", "keep-alive events"],
] as const)("a %s stream of nothing but %s meets the idle limit", async (wire, tail) => {
  const { model, send } = await serveStreams(wire, 1);
  const [first = ""] = callEvents(wire, 1);
  send({ events: [first], tail });
  const reasons: string[] = [];
  const reply = await model.reply(
    plainRequest,
    (progress) => progress.type === "retrying" && reasons.push(progress.reason),
    never,
  );
  expect(reasons[0]).toContain("limit idle");
  expect(reply).toMatchObject({ kind: "replied", blocks: [{ type: "call", name: "act" }] });
});

test.each([
  { repeated: "a finished call", events: [2, 3, 3, 3] },
  { repeated: "the whole stream but its end", events: [0, 1, 2, 3, 0, 1, 2, 3] },
  { repeated: "the final event", events: [1, 2, 3, 4, 4, 4] },
])("with $repeated repeated, the call of a Responses stream is made once and announced once", async ({ events }) => {
  const { model, send } = await serveStreams("responses", 1);
  const healthy = callEvents("responses", 1);
  send({ events: [...events, 4].map((index) => healthy[index] ?? ""), tail: "end" });
  const seen: string[] = [];
  const reply = await model.reply(plainRequest, ({ type }) => void seen.push(type), never);
  expect(reply).toMatchObject({ kind: "replied", blocks: [{ type: "call", wireId: "call_0" }] });
  expect(reply.kind === "replied" && reply.blocks).toHaveLength(1);
  expect(seen.filter((type) => type === "settled")).toHaveLength(1);
  expect(seen.filter((type) => type === "calling").length).toBeLessThanOrEqual(1);
});

test.each([
  { repeated: "of the same index", numbers: [0, 0, 0] },
  { repeated: "under another index", numbers: [0, 1] },
])("a call of a Messages stream that is repeated $repeated is made once and announced once", async ({ numbers }) => {
  const { model, send } = await serveStreams("anthropic", 1);
  const call = toolUseEvents(0);
  const content = numbers.flatMap((index) => call.map((event) => ({ ...event, index })));
  send({ events: messageEvents(content, "tool_use"), tail: "end" });
  const seen: string[] = [];
  const reply = await model.reply(plainRequest, ({ type }) => void seen.push(type), never);
  expect(reply).toMatchObject({ kind: "replied", blocks: [{ type: "call", wireId: "call_0" }] });
  expect(reply.kind === "replied" && reply.blocks).toHaveLength(1);
  expect(seen).toEqual(["calling", "settled"]);
});

test("repeated text is shown once", async () => {
  const { model, send } = await serveStreams("responses", 1);
  const delta = (text: string, sequence: number) =>
    JSON.stringify({
      type: "response.output_text.delta",
      output_index: 0,
      delta: text,
      sequence_number: sequence,
    });
  const [done = "", completed = ""] = finalMessage("responses");
  const [first, second] = [delta("Do", 3), delta("ne.", 4)];
  send({ events: [first, first, second, first, done, second, completed], tail: "end" });
  let text = "";
  await model.reply(
    plainRequest,
    (progress) => {
      if (progress.type === "text") text += progress.delta;
    },
    never,
  );
  expect(text).toBe("Done.");
});

test.each([
  { repeated: "under another index", pieces: [{ index: 0 }, { index: 1 }] },
  { repeated: "without an index, after another call", pieces: [{}, { id: "other" }, {}] },
  { repeated: "under the same index", pieces: [{ index: 0 }, { index: 0 }] },
])("a chat call that is repeated $repeated is made once", async ({ pieces }) => {
  const { model, send } = await serveStreams("chat", 1);
  const called = { name: "act", arguments: '{"number":0}' };
  const chunks = pieces.map((piece) => ({
    choices: [{ delta: { tool_calls: [{ id: "call_0", function: called, ...piece }] } }],
  }));
  const events = [...chunks, { choices: [{ delta: {}, finish_reason: "tool_calls" }] }];
  send({ events: [...events.map((event) => JSON.stringify(event)), "[DONE]"], tail: "end" });
  const reply = await model.reply(plainRequest, () => {}, never);
  const calls = reply.kind === "replied" ? reply.blocks.filter((block) => block.type === "call") : [];
  expect(calls.filter(({ wireId }) => wireId === "call_0")).toEqual([
    expect.objectContaining({ input: '{"number":0}' }),
  ]);
});
