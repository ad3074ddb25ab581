import { sendJson, startHttpMcpServer } from "@agentcli/testkit/mcp";
import { describe, expect, test } from "vitest";
import { openHarness, textOf } from "./harness.ts";

async function connected(changes: object = {}) {
  const server = await startHttpMcpServer();
  const staged = await openHarness({ web: { url: server.url, ...changes } });
  const [report] = await staged.servers.started();
  return { server, report, ...staged };
}

describe("a server over HTTP", () => {
  test("responds with JSON or events, within one session and with the agreed version", async () => {
    const { server, report, call } = await connected();
    expect(report).toEqual({ name: "web", status: "ready", reason: null });
    expect(textOf(await call("echo"))).toContain("over HTTP");
    expect(textOf(await call("streamed"))).toContain("streamed");
    const { headers } = server.requests.at(-1) ?? { headers: {} };
    expect(headers).toMatchObject({
      "mcp-session-id": "session-1",
      "mcp-protocol-version": "2025-11-25",
      accept: "application/json, text/event-stream",
    });
  });

  test("that drops a stream before the response fails the call at once, not by timeout", async () => {
    const { call, server } = await connected();
    expect(textOf(await call("cut"))).toContain("the connection was lost before its response arrived");
    expect(server.requests.filter(({ method }) => method === "GET")).toHaveLength(1);
    expect(textOf(await call("echo"))).toContain("over HTTP");
  });

  test("is asked again when a broken stream can be resumed", async () => {
    const { call, server } = await connected();
    expect(textOf(await call("resumed"))).toContain("resumed");
    expect(server.requests.filter(({ headers }) => headers["last-event-id"] === "event-1")).toHaveLength(1);
  });

  test.each([
    ["odd", "its response is not valid JSON"],
    ["wrong-type", "its response has content type text/html, expected JSON or an event stream"],
    ["error", "it answered HTTP 500: the database is away"],
  ])("that answers %s fails with the reason", async (tool, reason) => {
    const { call } = await connected();
    expect(textOf(await call(tool))).toContain(reason);
  });

  test("that ended the session is initialized again at the next call", async () => {
    const { call, server, tool } = await connected();
    const echo = tool("echo");
    server.forgetSessions();
    expect(textOf(await call("echo"))).toContain("it ended the session");
    const context = { toolTimeoutMs: null, outputTokens: 99, signal: new AbortController().signal } as never;
    expect(textOf(await echo.run({}, context))).toContain("over HTTP");
    expect(server.requests.filter(({ message }) => message.method === "initialize")).toHaveLength(2);
  });

  test("gets its connection closed when the call is stopped", async () => {
    const { call, server } = await connected();
    const stop = new AbortController();
    const outcome = call("never", {}, { signal: stop.signal });
    while (!server.requests.some(({ message }) => message.params?.name === "never")) await new Promise(setImmediate);
    stop.abort();
    expect(await outcome).toMatchObject({ status: "failed" });
    while (!server.requests.some(({ message }) => message.method === "notifications/cancelled"))
      await new Promise(setImmediate);
  });

  test("gets a DELETE for its session at the end", async () => {
    const { servers, server } = await connected();
    await servers.close();
    expect(server.requests.at(-1)).toMatchObject({ method: "DELETE", headers: { "mcp-session-id": "session-1" } });
  });

  test("that cannot be reached has failed, with its address in the reason", async () => {
    const { servers } = await openHarness({ gone: { url: "http://127.0.0.1:9/mcp" } });
    expect(await servers.started()).toEqual([
      { name: "gone", status: "failed", reason: expect.stringContaining("http://127.0.0.1:9 could not be reached") },
    ]);
  });

  test("that switches to another protocol has failed at once", async () => {
    const server = await startHttpMcpServer((_seen, response) => {
      response.socket?.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
      return true;
    });
    const { servers } = await openHarness({ web: { url: server.url } });
    const [report] = await servers.started();
    expect(report).toMatchObject({ status: "failed", reason: expect.stringContaining("without a response") });
  });

  test("that redirects is not followed: credentials would go along", async () => {
    const server = await startHttpMcpServer((_seen, response) => {
      response.writeHead(307, { location: "http://elsewhere.example/mcp" }).end();
      return true;
    });
    const { servers } = await openHarness({ web: { url: server.url } });
    const [report] = await servers.started();
    expect(report?.reason).toBe("it redirected (HTTP 307) to http://elsewhere.example/mcp; set url to that address");
  });
});

describe("authorization", () => {
  test("is a token, and headers from configuration and environment", async () => {
    const { server, report } = await connected({
      bearer_token_env_var: "FORWARDED",
      http_headers: { "x-team": "blue" },
      env_http_headers: { "x-key": "WITHHELD" },
    });
    expect(report?.status).toBe("ready");
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: "Bearer passed on",
      "x-team": "blue",
      "x-key": "secret",
    });
  });

  test.each([
    [
      { bearer_token_env_var: "NOT_SET" },
      "the environment variable NOT_SET, named by bearer_token_env_var, is not set or empty. Set it to the token of the server.",
    ],
    [
      { env_http_headers: { "x-key": "NOT_SET" } },
      "the environment variable NOT_SET, which holds its header x-key, is not set",
    ],
  ])("cannot be shown without the variable: %j", async (changes, reason) => {
    expect((await connected(changes)).report).toEqual({ name: "web", status: "failed", reason });
  });

  test("may come from a helper program, which is run again when the server refuses", async () => {
    const server = await startHttpMcpServer(({ headers }, response) => {
      if (headers["x-key"] === "key 2") return false;
      response.writeHead(401).end();
      return true;
    });
    const asked: string[] = [];
    const headersFrom = async (command: string) => ({ "x-key": `key ${asked.push(command)}` });
    const { servers } = await openHarness(
      { web: { url: server.url, http_headers_helper: "print-headers" } },
      { headersFrom },
    );
    expect((await servers.started())[0]?.status).toBe("ready");
    expect(asked).toEqual(["print-headers", "print-headers"]);
  });

  test("fails when the helper program fails, and the reason says so", async () => {
    const server = await startHttpMcpServer();
    const headersFrom = () => Promise.reject(new Error("its http_headers_helper ended with exit code 3"));
    const { servers } = await openHarness({ web: { url: server.url, http_headers_helper: "x" } }, { headersFrom });
    expect((await servers.started())[0]?.reason).toBe("its http_headers_helper ended with exit code 3");
    expect(server.requests).toEqual([]);
  });

  test("a refusal says what to do", async () => {
    const server = await startHttpMcpServer((_seen, response) => {
      response.writeHead(401, { "www-authenticate": "Bearer" }).end();
      return true;
    });
    const { servers } = await openHarness({ web: { url: server.url } });
    expect((await servers.started())[0]?.reason).toBe("it refused the request (HTTP 401); log in");
  });
});

test("a list that never ends is cut off", async () => {
  let pages = 0;
  const server = await startHttpMcpServer(({ message }, response) => {
    if (message.method !== "tools/list") return false;
    pages += 1;
    const result = { tools: [{ name: `tool-${pages}` }, null, 7, { name: "" }], nextCursor: String(pages) };
    sendJson(response, { jsonrpc: "2.0", id: message.id, result });
    return true;
  });
  const { servers } = await openHarness({ web: { url: server.url } });
  await servers.started();
  expect(servers.tools().filter((tool) => tool.mcp)).toHaveLength(100);
});
