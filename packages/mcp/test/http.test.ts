import { describe, expect, test } from "vitest";
import { sendJson, startHttpServer } from "./http-server.ts";
import { stage, textOf } from "./stage.ts";

async function connected(changes: object = {}) {
  const server = await startHttpServer();
  const staged = await stage({ web: { url: server.url, ...changes } });
  const [report] = await staged.servers.started();
  return { server, report, ...staged };
}

describe("a server over HTTP", () => {
  test("answers with JSON or with events, within one session and with the agreed version", async () => {
    const { server, report, call } = await connected();
    expect(report).toEqual({ name: "web", status: "ready", reason: null });
    expect(textOf(await call("echo"))).toContain("over HTTP");
    expect(textOf(await call("streamed"))).toContain("streamed");
    const { headers } = server.seen.at(-1) ?? { headers: {} };
    expect(headers).toMatchObject({
      "mcp-session-id": "session-1",
      "mcp-protocol-version": "2025-11-25",
      accept: "application/json, text/event-stream",
    });
  });

  test("that breaks off a stream before the answer costs the call, not the time limit", async () => {
    const { call, server } = await connected();
    expect(textOf(await call("cut"))).toContain("the connection broke off before its answer came");
    expect(server.seen.filter(({ method }) => method === "GET")).toHaveLength(1);
    expect(textOf(await call("echo"))).toContain("over HTTP");
  });

  test("is asked again where a broken stream can be taken up", async () => {
    const { call, server } = await connected();
    expect(textOf(await call("resumed"))).toContain("taken up again");
    expect(server.seen.filter(({ headers }) => headers["last-event-id"] === "event-1")).toHaveLength(1);
  });

  test.each([
    ["odd", "its answer is no JSON"],
    ["wrong-type", "neither JSON nor an event stream but text/html"],
    ["error", "it answered HTTP 500: the database is away"],
  ])("that answers %s is told as such", async (tool, reason) => {
    const { call } = await connected();
    expect(textOf(await call(tool))).toContain(reason);
  });

  test("that forgot the session is greeted again at the next call", async () => {
    const { call, server, tool } = await connected();
    const echo = tool("echo");
    server.forgetSessions();
    expect(textOf(await call("echo"))).toContain("it has forgotten the session");
    const context = { toolLimitMs: null, outputTokens: 99, signal: new AbortController().signal } as never;
    expect(textOf(await echo.run({}, context))).toContain("over HTTP");
    expect(server.seen.filter(({ message }) => message.method === "initialize")).toHaveLength(2);
  });

  test("is let go of when the call is stopped", async () => {
    const { call, server } = await connected();
    const stop = new AbortController();
    const outcome = call("never", {}, { signal: stop.signal });
    while (!server.seen.some(({ message }) => message.params?.name === "never")) await new Promise(setImmediate);
    stop.abort();
    expect(await outcome).toMatchObject({ status: "failed" });
    while (!server.seen.some(({ message }) => message.method === "notifications/cancelled"))
      await new Promise(setImmediate);
  });

  test("is told goodbye", async () => {
    const { servers, server } = await connected();
    await servers.close();
    expect(server.seen.at(-1)).toMatchObject({ method: "DELETE", headers: { "mcp-session-id": "session-1" } });
  });

  test("that is not there has failed, and says where it was looked for", async () => {
    const { servers } = await stage({ gone: { url: "http://127.0.0.1:9/mcp" } });
    expect(await servers.started()).toEqual([
      { name: "gone", status: "failed", reason: expect.stringContaining("http://127.0.0.1:9 could not be reached") },
    ]);
  });

  test("that sends us elsewhere is not followed: credentials would go along", async () => {
    const server = await startHttpServer((_seen, response) => {
      response.writeHead(307, { location: "http://elsewhere.example/mcp" }).end();
      return true;
    });
    const { servers } = await stage({ web: { url: server.url } });
    const [report] = await servers.started();
    expect(report?.reason).toBe(
      "it answered HTTP 307 and named another address, http://elsewhere.example/mcp; use that one as url",
    );
  });
});

describe("who we are", () => {
  test("is shown by a token and by headers from configuration and environment", async () => {
    const { server, report } = await connected({
      bearer_token_env_var: "FORWARDED",
      http_headers: { "x-team": "blue" },
      env_http_headers: { "x-key": "WITHHELD" },
    });
    expect(report?.status).toBe("ready");
    expect(server.seen[0]?.headers).toMatchObject({
      authorization: "Bearer passed on",
      "x-team": "blue",
      "x-key": "secret",
    });
  });

  test.each([
    [{ bearer_token_env_var: "NOT_SET" }, "the variable NOT_SET, which its token is read from, is not set"],
    [
      { env_http_headers: { "x-key": "NOT_SET" } },
      "the variable NOT_SET, which its header x-key is read from, is not set",
    ],
  ])("cannot be shown without the variable: %j", async (changes, reason) => {
    expect((await connected(changes)).report).toEqual({ name: "web", status: "failed", reason });
  });

  test("may be printed by a program, which is asked again when the server refuses", async () => {
    const server = await startHttpServer(({ headers }, response) => {
      if (headers["x-key"] === "key 2") return false;
      response.writeHead(401).end();
      return true;
    });
    const asked: string[] = [];
    const headersFrom = async (command: string) => ({ "x-key": `key ${asked.push(command)}` });
    const { servers } = await stage(
      { web: { url: server.url, http_headers_helper: "print-headers" } },
      { headersFrom },
    );
    expect((await servers.started())[0]?.status).toBe("ready");
    expect(asked).toEqual(["print-headers", "print-headers"]);
  });

  test("cannot be shown where the program fails, and the reason says so", async () => {
    const server = await startHttpServer();
    const headersFrom = () => Promise.reject(new Error("its http_headers_helper ended with exit code 3"));
    const { servers } = await stage({ web: { url: server.url, http_headers_helper: "x" } }, { headersFrom });
    expect((await servers.started())[0]?.reason).toBe("its http_headers_helper ended with exit code 3");
    expect(server.seen).toEqual([]);
  });

  test("a refusal says what to do", async () => {
    const server = await startHttpServer((_seen, response) => {
      response.writeHead(401, { "www-authenticate": "Bearer" }).end();
      return true;
    });
    const { servers } = await stage({ web: { url: server.url } });
    expect((await servers.started())[0]?.reason).toBe("it refused us (HTTP 401); log in");
  });
});

test("a server that answers a list for ever is not asked for ever", async () => {
  let pages = 0;
  const server = await startHttpServer(({ message }, response) => {
    if (message.method !== "tools/list") return false;
    pages += 1;
    const result = { tools: [{ name: `tool-${pages}` }, null, 7, { name: "" }], nextCursor: String(pages) };
    sendJson(response, { jsonrpc: "2.0", id: message.id, result });
    return true;
  });
  const { servers } = await stage({ web: { url: server.url } });
  await servers.started();
  expect(servers.tools().filter((tool) => tool.mcp)).toHaveLength(100);
});
