// The list of agents as a stream: it says that something has changed, and nothing else.
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type TestServer, testServer } from "../harness/platform.ts";

let server: TestServer;
let key: string;

beforeAll(async () => {
  server = await testServer({ roles: ["api"] });
  key = await server.key();
});
afterAll(() => server.close());

const create = async (prompt: string): Promise<string> => {
  const { body } = await server.call(key, "POST", "/v1/agents", { prompt: { text: prompt } });
  return (body as { agent: { id: string } }).agent.id;
};

/** Returns a function that waits for the next event of the stream. */
async function follow(lastId?: string) {
  const connection = new AbortController();
  onTestFinished(() => connection.abort());
  const headers = { authorization: `Bearer ${key}`, accept: "text/event-stream" };
  const response = await fetch(`${server.url}/v1/overview/agents`, {
    headers: { ...headers, ...(lastId !== undefined && { "last-event-id": lastId }) },
    signal: connection.signal,
  });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return async (): Promise<{ id: string; event: string }> => {
    while (!text.includes("\n\n")) text += (await reader?.read())?.value ?? expect.fail(`ended after ${text}`);
    const [block = ""] = text.split("\n\n", 1);
    text = text.slice(block.length + 2);
    const [, id = "", event = ""] = /^id: (\S+)\nevent: (\S+)\ndata: \{\}$/.exec(block) ?? expect.fail(block);
    return { id, event };
  };
}

test("a new agent, a new state of its run and its archiving each change the list; a reader who comes back learns what it missed", async () => {
  const agentId = await create("the first");
  const next = await follow();
  const { id: seen, event } = await next();
  expect(event).toBe("current");
  await create("the second");
  expect((await next()).event).toBe("changed");
  await server.platform.db
    .updateTable("runs")
    .set({ status: "FINISHED", updated_at: new Date() })
    .where("agent_id", "=", agentId)
    .execute();
  expect((await next()).event).toBe("changed");
  expect((await server.call(key, "POST", `/v1/agents/${agentId}/archive`)).status).toBe(200);
  const last = await next();
  expect(last.event).toBe("changed");

  const back = await follow(seen);
  expect(await back()).toEqual(last);
});

test("without a valid key there is no stream", async () => {
  const headers = { authorization: "Bearer plt_none", accept: "text/event-stream" };
  expect((await fetch(`${server.url}/v1/overview/agents`, { headers })).status).toBe(401);
});
