import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tomlValue } from "@agentcli/project";
import type { McpServer } from "@agentcli/protocol";
import { rpcCodes } from "@agentcli/protocol/app-server/codes";
import { startGuardedServer, stdioServerProgram } from "@agentcli/testkit/mcp";
import { describe, expect, test } from "vitest";
import { temporaryHome } from "../../../cli/test/session-files.ts";
import { openHarness as openServers } from "../../../mcp/test/harness.ts";
import type { ThreadServers } from "../../src/methods/mcp-access.ts";
import { openMcpServers } from "../../src/methods/mcp-servers.ts";
import { openHarness } from "./harness.ts";

const noThreads: ThreadServers = { of: () => null, reload: () => {} };

async function openFixture(servers: Record<string, McpServer>, threads = noThreads) {
  const home = await temporaryHome();
  writeFileSync(join(home, "config.toml"), `mcp_servers = ${tomlValue(servers)}\n`);
  return { ...(await openHarness(openMcpServers(threads), { home })), home };
}

const fake = (...options: string[]): McpServer => ({
  command: process.execPath,
  args: [stdioServerProgram, ...options],
});
const threadId = "00000000-0000-0000-0000-000000000000";

/** Every process the fake server was started as is gone. */
function expectAllGone(trace: string): void {
  const pids = readFileSync(trace, "utf8").matchAll(/start (\d+)/g);
  for (const [, pid] of pids) expect(existsSync(`/proc/${pid}`)).toBe(false);
}

describe("the list of servers", () => {
  test("lists what each offers, and leaves no process running", async () => {
    const trace = join(await temporaryHome(), "trace");
    const { call } = await openFixture({
      good: fake("tools=echo", `trace=${trace}`),
      broken: fake("die=1"),
      off: { ...fake(), enabled: false },
    });
    const { data } = await call("mcpServerStatus/list", {});
    expect(data.map(({ name, runtimeStatus }) => [name, runtimeStatus])).toEqual([
      ["broken", "failed"],
      ["good", "connected"],
      ["off", "disabled"],
    ]);
    const good = data[1];
    expect(good).toMatchObject({ authStatus: "unsupported", serverInfo: { name: expect.any(String) } });
    expect(good?.tools.echo).toMatchObject({
      name: "echo",
      inputSchema: { properties: { message: { type: "string" } } },
      annotations: { readOnlyHint: true },
    });
    expect(good?.resources.length).toBeGreaterThan(0);
    const brief = await call("mcpServerStatus/list", { detail: "toolsAndAuthOnly", limit: 1, cursor: "1" });
    expect(brief).toMatchObject({ data: [{ name: "good", resources: [] }], nextCursor: "2" });
    expectAllGone(trace);
  });

  test("is empty where none is configured, and refuses a configuration that is wrong", async () => {
    expect(await (await openFixture({})).call("mcpServerStatus/list", {})).toEqual({ data: [], nextCursor: null });
    const { call } = await openFixture({ both: { ...fake(), url: "http://127.0.0.1:1" } });
    await expect(call("mcpServerStatus/list", {})).rejects.toMatchObject({ code: rpcCodes.invalidRequest });
  });
});

describe("a tool", () => {
  test("is called on its server, with the answer unchanged", async () => {
    const trace = join(await temporaryHome(), "trace");
    const { call } = await openFixture({ one: fake(`trace=${trace}`) });
    const arguments_ = { server: "one", threadId };
    const result = await call("mcpServer/tool/call", { ...arguments_, tool: "echo", arguments: { message: "hi" } });
    expect(result.content).toEqual([{ type: "text", text: "hi" }]);
    const structured = await call("mcpServer/tool/call", { ...arguments_, tool: "structured", _meta: { mine: 1 } });
    expect(structured.structuredContent).toEqual({ sum: 8, list: [1, 2] });
    expect(await call("mcpServer/tool/call", { ...arguments_, tool: "fails" })).toMatchObject({ isError: true });
    expectAllGone(trace);
  });

  test("that is unknown, of an unknown server, or that ends its server is refused with the reason", async () => {
    const { call } = await openFixture({
      one: { ...fake(), disabled_tools: ["write"] },
      off: { ...fake(), enabled: false },
    });
    const attempt = (server: string, tool: string, args: unknown = {}) =>
      call("mcpServer/tool/call", { server, tool, threadId, arguments: args as never });
    await expect(attempt("two", "echo")).rejects.toThrow('There is no MCP server "two". Configured: off, one.');
    await expect(attempt("__proto__", "echo")).rejects.toThrow("There is no MCP server");
    await expect(attempt("off", "echo")).rejects.toThrow("switched off");
    for (const tool of ["none", "write"]) await expect(attempt("one", tool)).rejects.toThrow("offers no tool");
    await expect(attempt("one", "crash")).rejects.toMatchObject({ code: rpcCodes.invalidRequest });
    await expect(attempt("one", "echo", [1])).rejects.toMatchObject({ code: rpcCodes.invalidParams });
  });

  test("ends with the client that called it", async () => {
    const trace = join(await temporaryHome(), "trace");
    const { call, client } = await openFixture({ one: fake(`trace=${trace}`) });
    const hanging = call("mcpServer/tool/call", { server: "one", tool: "hang", threadId });
    const refused = expect(hanging).rejects.toThrow();
    await expect.poll(() => existsSync(trace)).toBe(true);
    client.leave();
    await refused;
    expectAllGone(trace);
  });

  test("of a loaded thread is called where that thread has it", async () => {
    const { servers } = await openServers({ one: fake("tools=echo") });
    let reloads = 0;
    const threads = {
      of: (id: string) => (id === threadId ? servers.direct : null),
      reload() {
        reloads += 1;
      },
    };
    const { call } = await openFixture({ one: fake("die=1") }, threads);
    const params = { server: "one", tool: "echo", arguments: { message: "there" } };
    expect((await call("mcpServer/tool/call", { ...params, threadId })).content).toMatchObject([{ text: "there" }]);
    await expect(call("mcpServer/tool/call", { ...params, threadId: "other" })).rejects.toThrow("MCP server one");
    expect((await call("mcpServerStatus/list", { threadId })).data).toMatchObject([{ runtimeStatus: "connected" }]);
    expect(await call("config/mcpServer/reload", {})).toEqual({});
    expect(reloads).toBe(1);
  });
});

test("a resource is read, and refused where its server is down or unknown", async () => {
  const { call } = await openFixture({ one: fake(), dead: fake("die=1") });
  const uri = "memo://one";
  const { contents } = await call("mcpServer/resource/read", { server: "one", uri });
  expect(contents).toMatchObject([{ uri }]);
  await expect(call("mcpServer/resource/read", { server: "dead", uri })).rejects.toThrow("MCP server dead");
  await expect(call("mcpServer/resource/read", { server: "two", uri })).rejects.toThrow("There is no MCP server");
});

describe("a login to a server", () => {
  test("answers with the URL, and notifies every client when the user has consented", async () => {
    const { server } = await startGuardedServer();
    const { call, client, home } = await openFixture({ web: { url: server.url } });
    expect((await call("mcpServerStatus/list", {})).data).toMatchObject([{ authStatus: "notLoggedIn" }]);
    const { authorizationUrl } = await call("mcpServer/oauth/login", { name: "web", scopes: ["read"] });
    const consented = await fetch(authorizationUrl, { redirect: "manual" });
    await fetch(consented.headers.get("location") ?? "");
    expect(await client.received("mcpServer/oauthLogin/completed")).toEqual({
      name: "web",
      success: true,
      error: null,
    });
    expect(readFileSync(join(home, ".credentials.json"), "utf8")).toContain("access-1");
    expect((await call("mcpServerStatus/list", {})).data).toMatchObject([
      { authStatus: "oAuth", runtimeStatus: "connected" },
    ]);
  });

  test("is cancelled when its client or the server closes, or when it times out", async () => {
    const { server } = await startGuardedServer();
    const { call, client, join: enter, close } = await openFixture({ web: { url: server.url } });
    const other = enter();
    await call("mcpServer/oauth/login", { name: "web", timeoutSecs: 1 });
    expect(await client.received("mcpServer/oauthLogin/completed")).toMatchObject({ success: false });
    client.notices.length = 0;
    await call("mcpServer/oauth/login", { name: "web" }, other);
    other.leave();
    expect(await client.received("mcpServer/oauthLogin/completed")).toMatchObject({ success: false });
    await call("mcpServer/oauth/login", { name: "web" });
    await close();
  });

  test("is refused where the server has no URL, is down or is unknown", async () => {
    const { call } = await openFixture({ program: fake(), gone: { url: "http://127.0.0.1:9/mcp" } });
    await expect(call("mcpServer/oauth/login", { name: "program" })).rejects.toThrow("only to servers with a url");
    await expect(call("mcpServer/oauth/login", { name: "gone" })).rejects.toThrow("MCP server gone");
    await expect(call("mcpServer/oauth/login", { name: "none" })).rejects.toThrow("No MCP server named 'none'");
  });
});
