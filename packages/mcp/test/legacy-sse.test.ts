import { describe, expect, test } from "vitest";
import { readSettings } from "../src/index.ts";
import { openHarness, textOf } from "./harness.ts";
import { startLegacyServer } from "./legacy-server.ts";

const connect = async (url: string, changes: object = {}) => {
  const staged = await openHarness({ old: { type: "sse", url, ...changes } });
  const [report] = await staged.servers.started();
  return { report, ...staged };
};

describe("a server on the older HTTP transport", () => {
  test("is initialized, listed and called, with headers on stream and messages", async () => {
    const server = await startLegacyServer();
    const { report, call, servers } = await connect(server.url, { bearer_token_env_var: "FORWARDED" });
    expect(report).toEqual({ name: "old", status: "ready", reason: null });
    expect(textOf(await call("echo"))).toContain("over a stream");
    expect(server.seen.map(({ method }) => method).slice(0, 2)).toEqual(["GET", "POST"]);
    for (const { headers } of server.seen) expect(headers.authorization).toBe("Bearer passed on");
    await servers.close();
  });

  test("that names another origin gets nothing: credentials would go along", async () => {
    const server = await startLegacyServer({ endpoint: "http://elsewhere.example/messages" });
    const { report } = await connect(server.url);
    expect(report).toMatchObject({
      status: "failed",
      reason: "it names another origin to post to: http://elsewhere.example/messages",
    });
    expect(server.seen.map(({ method }) => method)).toEqual(["GET"]);
  });

  test("is connected again after its stream was dropped", async () => {
    const server = await startLegacyServer();
    const { call } = await connect(server.url);
    server.drop();
    // The drop may arrive during the first call: that call fails, and the next one reconnects.
    const texts = [textOf(await call("echo")), textOf(await call("echo"))];
    expect(texts.at(-1)).toContain("over a stream");
  });

  test("that refuses the request, or cannot be reached, has failed with the reason", async () => {
    const server = await startLegacyServer({ refuses: () => true });
    expect((await connect(server.url)).report?.reason).toBe("it refused the request (HTTP 401); log in");
    expect((await connect("http://127.0.0.1:9/sse")).report?.reason).toContain("could not be reached");
  });

  test("has a type that requires a url", () => {
    expect(readSettings("x", { type: "sse", command: "x" })).toMatchObject({
      kind: "problem",
      message: 'mcp_servers.x: type = "sse" cannot be used with command.',
    });
    expect(readSettings("x", { type: "stdio", url: "http://x" })).toMatchObject({ kind: "problem" });
    expect(readSettings("x", { type: "http", url: "http://x" })).toMatchObject({ kind: "settings" });
  });
});
