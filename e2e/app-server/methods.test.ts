import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { replyWith, temporaryDirectory } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { stdioServerProgram } from "@agentcli/testkit/mcp";
import { describe, expect, onTestFinished, test } from "vitest";
import { type AppClient, startServer, wires } from "./client.ts";

const text = (base64: string) => Buffer.from(base64, "base64").toString();
const base64 = (value: string) => Buffer.from(value).toString("base64");

const output = (client: AppClient) =>
  client.received
    .filter(({ method }) => method === "command/exec/outputDelta")
    .map(({ params }) => text(params.deltaBase64))
    .join("");

test("a tool is called in the server a thread has, and a reload reaches its next turn", async () => {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  const trace = join(directory.path, "trace");
  const server = `[mcp_servers.one]\ncommand = "node"\nargs = [${JSON.stringify(stdioServerProgram)}, "trace=${trace}"]\n`;
  const harness = await openHarness({ replies: [replyWith("One."), replyWith("Two.")], config: server });
  const client = await (await startServer(harness, "stdio")).connect();
  const { thread } = await client.request("thread/start", {});
  const turn = async (name: string) => {
    const input = [{ type: "text", text: name }];
    const { turn: begun } = await client.request("turn/start", { threadId: thread.id, input });
    await client.waitFor(({ method, params }) => method === "turn/completed" && params.turn.id === begun.id);
  };
  const starts = () => readFileSync(trace, "utf8").match(/start/g)?.length;
  await turn("first");
  const call = { threadId: thread.id, server: "one", tool: "echo", arguments: { message: "hi" } };
  expect((await client.request("mcpServer/tool/call", call)).content).toEqual([{ type: "text", text: "hi" }]);
  expect(starts()).toBe(1);
  expect(await client.request("config/mcpServer/reload")).toEqual({});
  await turn("second");
  expect(starts()).toBe(2);
  await client.request("mcpServer/tool/call", { ...call, threadId: "none" });
  expect(starts()).toBe(3);
});

describe.each(wires)("a client over %s", (wire) => {
  test("reads, changes files and configuration, and is notified of changes", async () => {
    const harness = await openHarness({ files: { "src/app.ts": "one\n" } });
    const server = await startServer(harness, wire);
    const client = await server.connect();
    const path = join(harness.repository, "src/app.ts");
    await client.request("fs/watch", { watchId: "w", path });
    await client.request("fs/writeFile", { path, dataBase64: base64("two\n") });
    expect((await client.notification("fs/changed")).params).toEqual({ watchId: "w", changedPaths: [path] });
    expect(text((await client.request("fs/readFile", { path })).dataBase64)).toBe("two\n");
    const { files } = await client.request("fuzzyFileSearch", { query: "app", roots: [harness.repository] });
    expect(files[0].path).toBe("src/app.ts");

    const edit = { keyPath: "limits.idle", value: "9s", mergeStrategy: "replace" };
    const { version } = await client.request("config/value/write", edit);
    const { config, origins } = await client.request("config/read");
    expect(config.limits.idle).toBe("9s");
    expect(origins["limits.idle"]).toMatchObject({ name: { type: "user" }, version });
    const stale = client.request("config/value/write", { ...edit, value: "8s", expectedVersion: "old" });
    await expect(stale).rejects.toMatchObject({ data: { config_write_error_code: "configVersionConflict" } });

    expect((await client.request("model/list")).data[0]).toMatchObject({ id: "scripted", isDefault: true });
    await client.request("account/login/start", { type: "apiKey", apiKey: "sk-of-a-test" });
    expect((await client.notification("account/updated")).params).toMatchObject({ authMode: "apikey" });
    expect(statSync(join(harness.home, "auth.json")).mode & 0o777).toBe(0o600);
    await expect(client.request("feedback/upload", {})).rejects.toMatchObject({ code: -32601 });
    expect(await server.end()).toBe(wire === "stdio" ? 0 : 143);
  });

  test("runs commands in the sandbox it asks for, and they end with it", async () => {
    const harness = await openHarness();
    const server = await startServer(harness, wire);
    const client = await server.connect();
    const run = (script: string, more: object = {}) =>
      client.request("command/exec", { command: ["sh", "-c", script], ...more });
    expect((await run("echo x > denied")).exitCode).not.toBe(0);
    expect(await run("echo x > allowed && cat allowed", { sandboxPolicy: { type: "workspaceWrite" } })).toMatchObject({
      exitCode: 0,
      stdout: "x\n",
    });
    expect(readFileSync(join(harness.repository, "allowed"), "utf8")).toBe("x\n");

    const free = { sandboxPolicy: { type: "dangerFullAccess" } };
    const running = run("echo $$; sleep 600 & sleep 600", { ...free, processId: "p", streamStdoutStderr: true });
    running.catch(() => {});
    await client.waitFor(() => output(client).endsWith("\n"));
    const pid = output(client).trim();
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    await server.end();
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  });
});
