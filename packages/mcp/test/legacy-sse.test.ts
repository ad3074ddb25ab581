import { describe, expect, test } from "vitest";
import { readSettings } from "../src/index.ts";
import { startLegacyServer } from "./legacy-server.ts";
import { stage, textOf } from "./stage.ts";

const connect = async (url: string, changes: object = {}) => {
  const staged = await stage({ old: { type: "sse", url, ...changes } });
  const [report] = await staged.servers.started();
  return { report, ...staged };
};

describe("a server that speaks the older way over HTTP", () => {
  test("is greeted, listed and called, with headers on stream and messages", async () => {
    const server = await startLegacyServer();
    const { report, call, servers } = await connect(server.url, { bearer_token_env_var: "FORWARDED" });
    expect(report).toEqual({ name: "old", status: "ready", reason: null });
    expect(textOf(await call("echo"))).toContain("over a stream");
    expect(server.seen.map(({ method }) => method).slice(0, 2)).toEqual(["GET", "POST"]);
    for (const { headers } of server.seen) expect(headers.authorization).toBe("Bearer passed on");
    await servers.close();
  });

  test("that names an address elsewhere gets nothing: credentials would go along", async () => {
    const server = await startLegacyServer({ endpoint: "http://elsewhere.example/messages" });
    const { report } = await connect(server.url);
    expect(report).toMatchObject({
      status: "failed",
      reason: "it wants its messages sent elsewhere: http://elsewhere.example/messages",
    });
    expect(server.seen.map(({ method }) => method)).toEqual(["GET"]);
  });

  test("is connected again where its stream broke off", async () => {
    const server = await startLegacyServer();
    const { call } = await connect(server.url);
    server.drop();
    // The break may reach us during the first call: that one is lost, and the next begins anew.
    const texts = [textOf(await call("echo")), textOf(await call("echo"))];
    expect(texts.at(-1)).toContain("over a stream");
  });

  test("that refuses us, or is not there, has failed with the reason", async () => {
    const server = await startLegacyServer({ refuses: () => true });
    expect((await connect(server.url)).report?.reason).toBe("it refused us (HTTP 401); log in");
    expect((await connect("http://127.0.0.1:9/sse")).report?.reason).toContain("could not be reached");
  });

  test("has a type that goes with an address only", () => {
    expect(readSettings("x", { type: "sse", command: "x" })).toMatchObject({
      kind: "problem",
      message: 'mcp_servers.x: type = "sse" does not go with command.',
    });
    expect(readSettings("x", { type: "stdio", url: "http://x" })).toMatchObject({ kind: "problem" });
    expect(readSettings("x", { type: "http", url: "http://x" })).toMatchObject({ kind: "settings" });
  });
});
