import { expect, test } from "vitest";
import { maxCalls } from "../src/dispatch/calls.ts";
import { type Client, invalidParams, type Methods } from "../src/method.ts";
import { connect, introduction, type Message, partOf, type TestConnection, testServer } from "./harness.ts";

const emptyPage = { data: [], nextCursor: null };

function open(methods: Methods = {}) {
  const { server, program } = testServer(partOf(methods));
  return { server, program, seat: connect(server) };
}

function introduced(methods: Methods = {}) {
  const opened = open(methods);
  opened.seat.send(introduction);
  return opened;
}

const errorOf = async (seat: TestConnection, id: string | number) => (await seat.answerTo(id)).error;

test("initialize returns the server's identity, with both names of the agent home", async () => {
  const { seat } = introduced();
  expect(await seat.answerTo("hello")).toMatchObject({
    id: "hello",
    result: { agentHome: "/agent-home", codexHome: "/agent-home", platformFamily: "unix" },
  });
});

test("requests before initialize are refused, and so is a second initialize", async () => {
  const { seat } = open({ "model/list": () => emptyPage });
  seat.send({ id: 1, method: "model/list" });
  seat.send(introduction);
  seat.send({ ...introduction, id: 2 });
  seat.send({ id: 3, method: "model/list" });
  expect(await errorOf(seat, 1)).toEqual({ code: -32600, message: "Not initialized" });
  expect(await errorOf(seat, 2)).toEqual({ code: -32600, message: "Already initialized" });
  expect(await seat.answerTo(3)).toEqual({ id: 3, result: emptyPage });
});

test("a method that is unknown, unsupported or experimental is refused by name", async () => {
  const { seat } = introduced();
  const names = ["no/such", "plugin/list", "thread/realtime/start", "fs/readFile", "constructor", "toString"];
  for (const method of names) seat.send({ id: method, method });
  expect(await errorOf(seat, "no/such")).toEqual({
    code: -32601,
    message: "Method not found: no/such",
  });
  expect(await errorOf(seat, "plugin/list")).toEqual({
    code: -32601,
    message: "plugin/list is not supported by agentcli.",
  });
  expect(await errorOf(seat, "thread/realtime/start")).toEqual({
    code: -32600,
    message: "thread/realtime/start requires experimentalApi capability",
  });
  expect(await errorOf(seat, "fs/readFile")).toMatchObject({ code: -32601 });
  expect(await errorOf(seat, "constructor")).toMatchObject({ code: -32601 });
  expect(await errorOf(seat, "toString")).toMatchObject({ code: -32601 });
});

test("an experimental method is unsupported for clients that opted in to experiments", async () => {
  const { seat } = open();
  seat.send({ ...introduction, params: { ...introduction.params, capabilities: { experimentalApi: true } } });
  seat.send({ id: 1, method: "process/spawn" });
  expect(await errorOf(seat, 1)).toEqual({ code: -32601, message: "process/spawn is not supported by agentcli." });
});

test.each([
  [{}, "Invalid request: missing field `threadId`"],
  [{ threadId: 7, input: [] }, "Invalid request: `threadId`: expected string, received number"],
  [{ threadId: "t", input: [{ type: "text" }] }, "Invalid request: missing field `input.0.text`"],
  [[], "Invalid request: params: expected object, received array"],
])("params that do not fit name the member: %j", async (params, message) => {
  const { seat } = introduced({ "turn/start": () => Promise.reject(new Error("not reached")) });
  seat.send({ id: 1, method: "turn/start", params });
  expect(await errorOf(seat, 1)).toEqual({ code: -32600, message });
});

test("unknown members are not passed to methods, and null means absent", async () => {
  const seen: unknown[] = [];
  const { seat } = introduced({
    "model/list": (params) => {
      seen.push(params);
      return emptyPage;
    },
  });
  seat.send({ id: 1, method: "model/list", params: { limit: null, fromTheFuture: true }, trace: {}, jsonrpc: "2.0" });
  seat.send({ id: 2, method: "model/list", params: null });
  await seat.answerTo(2);
  expect(seen).toEqual([{ limit: null }, {}]);
});

test("whatever a method throws or returns, its request is answered once", async () => {
  const { seat } = introduced({
    "fs/readFile": () => {
      throw invalidParams("The path is not absolute.", { path: "a" });
    },
    "fs/remove": () => Promise.reject(new TypeError("our bug")),
    "fs/copy": () => ({ amount: 1n }) as never,
  });
  seat.send({ id: 1, method: "fs/readFile", params: { path: "a" } });
  seat.send({ id: 2, method: "fs/remove", params: { path: "a" } });
  seat.send({ id: 3, method: "fs/copy", params: { sourcePath: "a", destinationPath: "b" } });
  expect(await errorOf(seat, 1)).toEqual({ code: -32602, message: "The path is not absolute.", data: { path: "a" } });
  expect(await errorOf(seat, 2)).toEqual({ code: -32603, message: "Internal error: TypeError: our bug" });
  expect(await errorOf(seat, 3)).toMatchObject({ code: -32603 });
  expect(seat.received).toHaveLength(4);
});

test("notifications of a method come right after its answer", async () => {
  const { seat } = introduced({
    async "skills/list"(_, client, call) {
      call.afterwards(() => client.notify("skills/changed", {}));
      await Promise.resolve();
      return { data: [] };
    },
  });
  seat.send({ id: 1, method: "skills/list" });
  await seat.waitFor(({ method }) => method === "skills/changed");
  expect(seat.received.slice(1).map(({ id, method }) => id ?? method)).toEqual([1, "skills/changed"]);
});

test("requests over the concurrency limit are refused at once, and the others continue", async () => {
  const held: (() => void)[] = [];
  const { seat } = introduced({ "model/list": () => new Promise((resolve) => held.push(() => resolve(emptyPage))) });
  for (let id = 0; id <= maxCalls; id++) seat.send({ id, method: "model/list" });
  expect(await errorOf(seat, maxCalls)).toEqual({ code: -32001, message: "Server overloaded; retry later." });
  for (const release of held) release();
  expect(await seat.answerTo(maxCalls - 1)).toHaveProperty("result");
  seat.send({ id: "later", method: "fs/readFile", params: { path: "/" } });
  expect(await errorOf(seat, "later")).toMatchObject({ code: -32601 });
});

test("notifications carry their time, and those a client opted out of are not sent", async () => {
  const { seat } = open({
    "skills/list": (_, client) => {
      client.notify("skills/changed", {});
      client.notify("warning", { message: "careful" });
      return { data: [] };
    },
  });
  const capabilities = { optOutNotificationMethods: ["skills/changed"] };
  seat.send({ ...introduction, params: { ...introduction.params, capabilities } });
  seat.send({ id: 1, method: "skills/list" });
  await seat.answerTo(1);
  const notifications = seat.received.filter(({ method }) => method !== undefined);
  expect(notifications).toEqual([
    { method: "warning", params: { message: "careful" }, emittedAtMs: expect.any(Number) },
  ]);
});

const question = { threadId: "t", turnId: "u", itemId: "i", startedAtMs: 1 };
const asking = (answers: unknown[]): Methods => ({
  async "skills/list"(_, client: Client) {
    const asked = client.ask("item/fileChange/requestApproval", question);
    answers.push(await asked.answer.catch((error: Error) => error.message));
    return { data: [] };
  },
});
const isQuestion = ({ method }: Message) => method === "item/fileChange/requestApproval";

test("a server request has its own id, and its answer is checked", async () => {
  const answers: unknown[] = [];
  const { seat, program } = introduced(asking(answers));
  for (const id of ["first", "second", "third"]) seat.send({ id, method: "skills/list" });
  await seat.waitFor((message) => isQuestion(message) && message.id === 2);
  seat.send({ id: 1, result: { decision: "perhaps" } });
  seat.send({ id: 0, result: { decision: "accept" } });
  seat.send({ id: 2, error: { code: 1, message: "not available" } });
  seat.send({ id: 99, result: {} });
  await Promise.all(["first", "second", "third"].map((id) => seat.answerTo(id)));
  expect(answers[0]).toMatch(/response to item\/fileChange\/requestApproval is invalid: `decision`/);
  expect(answers.slice(1)).toEqual([
    { decision: "accept" },
    "The client refused item/fileChange/requestApproval: not available",
  ]);
  expect(program.log).toEqual(["An answer was ignored: nothing was asked under the id 99."]);
});

test("a server request to a client that disconnects fails, and its work is aborted", async () => {
  const answers: unknown[] = [];
  let gone: AbortSignal | undefined;
  const { seat, server } = introduced({
    ...asking(answers),
    "model/list": (_, client) => {
      gone = client.closed;
      return emptyPage;
    },
  });
  seat.send({ id: 1, method: "model/list" });
  seat.send({ id: 2, method: "skills/list" });
  await seat.waitFor(isQuestion);
  seat.leave();
  await server.close();
  expect(gone?.aborted).toBe(true);
  expect(answers).toEqual(["The client is gone: it left."]);
  expect(seat.received.some(({ id, method }) => id === 2 && method === undefined)).toBe(false);
});

test("noise is logged without an answer, and what may be a request is refused", async () => {
  const { seat, program } = introduced();
  for (const noise of ["{", "[]", "null", '{"id":null,"method":"x"}', '{"id":1.5,"method":"x"}', "{}"])
    seat.send(noise);
  seat.send({ id: 9, method: 12 });
  seat.send({ method: "initialized" });
  expect(await errorOf(seat, 9)).toEqual({ code: -32600, message: "Invalid request: missing field `method`" });
  expect(seat.received).toHaveLength(2);
  expect(program.log).toHaveLength(6);
});

test("two parts cannot implement the same method", () => {
  const part = partOf({ "model/list": () => emptyPage });
  expect(() => testServer(part, part)).toThrow("two parts implement model/list");
});

test("every initialized client receives a broadcast, and no other", async () => {
  const { server } = testServer((host) => ({
    methods: {
      "skills/list": () => {
        host.broadcast("skills/changed", {});
        return { data: [] };
      },
    },
    close: async () => {},
  }));
  const [one, two, three] = [connect(server), connect(server), connect(server)];
  one.send(introduction);
  two.send(introduction);
  one.send({ id: 1, method: "skills/list" });
  await one.answerTo(1);
  const counts = [one, two, three].map(
    (seat) => seat.received.filter(({ method }) => method === "skills/changed").length,
  );
  expect(counts).toEqual([1, 1, 0]);
});
