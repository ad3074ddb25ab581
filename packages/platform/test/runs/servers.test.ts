import { existsSync, readFileSync } from "node:fs";
import { call, replyWith } from "@agentcli/testkit";
import { startHttpMcpServer, stdioServerProgram } from "@agentcli/testkit/mcp";
import { expect, test } from "vitest";
import { openRunHarness } from "./run-harness.ts";

const toolsOf = (body: unknown): string[] =>
  ((body as { tools?: { name?: string }[] }).tools ?? []).flatMap(({ name }) => name ?? []);

test("an HTTP server receives its headers, which appear nowhere else", async () => {
  const server = await startHttpMcpServer();
  const { client, requests, records } = await openRunHarness({
    replies: [
      call("mcp__remote__echo", { message: "hello" }),
      call("exec_command", { cmd: "env; ls -R / 2>/dev/null | head -c 1000" }),
      replyWith("The key is sesame-open-wide."),
    ],
  });
  const ids = await client.create({
    prompt: { text: "ask" },
    mcpServers: [{ name: "remote", url: server.url, headers: { authorization: "Bearer sesame-open-wide" } }],
  });
  const frames = await client.stream(ids);
  expect(server.requests.every(({ headers }) => headers.authorization === "Bearer sesame-open-wide")).toBe(true);
  const calls = frames.filter(({ event, data }) => event === "tool_call" && data.name === "mcp");
  expect(calls.map(({ data }) => data.status)).toEqual(["running", "completed"]);
  const everything = JSON.stringify([frames, await records(ids.agentId), requests(), await client.read(ids)]);
  expect(everything).toContain("[REDACTED]");
  expect(everything).not.toContain("sesame");
});

test("a server on a private address is not called; the run reports it and continues", async () => {
  const server = await startHttpMcpServer();
  const { client } = await openRunHarness({
    replies: [replyWith("Without it.")],
    settings: { allowPrivate: [] },
  });
  const ids = await client.create({ prompt: { text: "ask" }, mcpServers: [{ name: "inner", url: server.url }] });
  const frames = await client.stream(ids);
  expect(server.requests).toEqual([]);
  expect(frames.find(({ event }) => event === "tool_call")?.data).toMatchObject({ name: "mcp", status: "error" });
  expect(JSON.stringify(frames)).toContain("resolves to a private address");
  expect(frames.at(-2)?.data).toMatchObject({ status: "FINISHED" });
});

test("a stdio server runs inside the workspace, and a run may specify other servers", async () => {
  const { client, requests, repository, dataDirectory } = await openRunHarness({
    replies: {
      replies: [
        call("mcp__inside__echo", { message: "hello" }),
        replyWith("First."),
        replyWith("Second."),
        call("mcp__inside__echo", { message: "again" }),
        replyWith("Third."),
      ],
    },
  });
  const url = await repository("serving", { "server.mjs": readFileSync(stdioServerProgram, "utf8") });
  const inside = {
    name: "inside",
    command: process.execPath,
    args: ["server.mjs"],
    env: { CANARY: "a-word-of-its-own" },
  };
  const escaping = { ...inside, name: "escaping", args: ["server.mjs", `trace=${dataDirectory}/escaped`] };
  const first = await client.create({ prompt: { text: "one" }, repos: [{ url }], mcpServers: [inside, escaping] });
  const frames = await client.stream(first);
  expect(JSON.stringify(frames)).toContain("hello");
  expect(toolsOf(requests()[0]?.body)).toContain("mcp__inside__echo");
  await client.stream(await client.followUp(first.agentId, { prompt: { text: "two" }, mcpServers: [] }));
  expect(toolsOf(requests()[2]?.body)).not.toContain("mcp__inside__echo");
  await client.stream(await client.followUp(first.agentId, { prompt: { text: "three" } }));
  expect(toolsOf(requests()[3]?.body)).toContain("mcp__inside__echo");
  expect(existsSync(`${dataDirectory}/escaped`)).toBe(false);
});

test("a server that does not start is reported with the reason", async () => {
  const { client } = await openRunHarness({ replies: [replyWith("Without it.")] });
  const ids = await client.create({
    prompt: { text: "go" },
    mcpServers: [{ name: "broken", command: "sh", args: ["-c", "echo no licence >&2; exit 3"] }],
  });
  const frames = await client.stream(ids);
  const shown = frames.find(({ event }) => event === "tool_call");
  expect(JSON.stringify(shown)).toMatch(/MCP server broken .*no licence/);
  expect(frames.at(-2)?.data).toMatchObject({ status: "FINISHED", text: "Without it." });
});
