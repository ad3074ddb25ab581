// Local agents for other languages: through the bridge, with their tools run by the caller.
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { type CurledBridge, curl, startBridge } from "./curl-scenario-runner.ts";
import { bodiesOf, type LocalHarness, model, openLocalHarness } from "./local-harness.ts";

const token = "callback-token";

interface Asked {
  authorization: string | undefined;
  body: unknown;
}

/** A program that runs tools, as one in any language would. */
async function openCallback(answer: object, status = 200): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { authorization } = request.headers;
    asked.push({ authorization, body: JSON.parse(Buffer.concat(chunks).toString("utf8")) });
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tools`, asked };
}

async function bridgeOn(harness: LocalHarness): Promise<CurledBridge> {
  const bridge = await startBridge(harness.variables);
  onTestFinished(bridge.close);
  return bridge;
}

const add = { description: "Adds", inputSchema: { type: "object", properties: { a: { type: "number" } } } };

test("a local agent is created, prompted, streamed and looked up, and its tool is asked of the caller", async () => {
  const harness = await openLocalHarness([call("mcp__custom_user_tools__add", { a: 2 }), replyWith("Three.")]);
  const callback = await openCallback({ result: "it is 3" });
  const bridge = await bridgeOn(harness);
  const ask = async (method: string, params: object) =>
    JSON.parse(await curl(bridge, `SdkAgentService/${method}`, params));
  const local = { cwd: harness.repository.path, customTools: { add } };
  const { agent } = await ask("CreateAgent", {
    options: { model, local },
    toolCallback: { url: callback.url, token },
  });
  const { id: runId, agentId } = await ask("Send", { agent, message: "Add one" });
  expect(agentId).toMatch(/^agent-/);
  expect(await ask("WaitRun", { agentId, runId })).toMatchObject({ status: "finished", result: "Three." });
  expect(await ask("GetRun", { runId })).toMatchObject({ agentId, status: "finished" });
  const missing = { authorization: `Bearer ${readFileSync(bridge.tokenFile, "utf8")}` };
  const body = JSON.stringify({ agentId: "agent-unheard-of" });
  const refused = await fetch(`${bridge.url}/sdk.v1.SdkAgentService/GetAgent`, {
    method: "POST",
    headers: missing,
    body,
  });
  expect(refused.status).toBe(404);
  expect(callback.asked).toEqual([
    { authorization: `Bearer ${token}`, body: { name: "add", args: { a: 2 }, toolCallId: expect.any(String) } },
  ]);
  expect(bodiesOf(harness).at(-1)).toContain("it is 3");
  const streamed = await curl(bridge, "SdkAgentService/StreamRun", { agentId, runId });
  expect(streamed).toContain('"type":"tool_call"');
  expect(streamed).toContain("event: result");
  const { items } = await ask("ListAgents", { options: { runtime: "local", cwd: harness.repository.path } });
  expect(items).toMatchObject([{ agentId, runtime: "local", status: "finished", archived: false }]);
  expect((await ask("ListMessages", { agentId })).items).toHaveLength(2);
  expect((await ask("GetUsage", { agentId })).runs).toHaveLength(1);
  expect(await ask("CloseAgent", { agent })).toEqual({ closed: true });
  await ask("DeleteAgent", { agentId });
  expect((await ask("ListAgents", { options: { runtime: "local", cwd: harness.repository.path } })).items).toEqual([]);
});

test("an error that the caller answers reaches the model", async () => {
  const harness = await openLocalHarness([call("mcp__custom_user_tools__add", { a: 2 }), replyWith("Pity.")]);
  const callback = await openCallback({ error: { message: "no numbers today" } }, 500);
  const bridge = await bridgeOn(harness);
  const local = { cwd: harness.repository.path, customTools: { add } };
  const params = { message: "Add", options: { model, local }, toolCallback: { url: callback.url, token } };
  await curl(bridge, "SdkAgentService/Prompt", params);
  expect(bodiesOf(harness).at(-1)).toContain("no numbers today");
});

test("tools without a callback, or one that is not on this machine, are refused", async () => {
  const harness = await openLocalHarness([]);
  const bridge = await bridgeOn(harness);
  const options = { model, local: { cwd: harness.repository.path, customTools: { add } } };
  const refused = (toolCallback?: object) =>
    curl(bridge, "SdkAgentService/CreateAgent", { options, toolCallback }).catch((error) => error.message);
  expect(await refused()).toContain("need toolCallback");
  expect(await refused({ url: "http://10.0.0.1/", token })).toContain("loopback");
  expect(await refused({ url: "https://127.0.0.1/", token })).toContain("loopback");
  expect(await refused({ url: "http://127.0.0.1/" })).toContain("url and token");
  const stored = { options: { model, local: { store: {} } } };
  await expect(curl(bridge, "SdkAgentService/CreateAgent", stored)).rejects.toThrow("PLATFORM_SDK_HOME");
});

test("a bridge that ends takes the runs of its agents with it", async () => {
  const harness = await openLocalHarness([call("exec_command", { cmd: "echo $$ > pid; exec sleep 1000" })]);
  const bridge = await startBridge(harness.variables);
  const create = { options: { model, local: { cwd: harness.repository.path } } };
  const { agent } = JSON.parse(await curl(bridge, "SdkAgentService/CreateAgent", create));
  await curl(bridge, "SdkAgentService/Send", { agent, message: "Sleep" });
  const file = join(harness.repository.path, "pid");
  await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toMatch(/\d/);
  await bridge.close();
  expect(existsSync(`/proc/${readFileSync(file, "utf8").trim()}`)).toBe(false);
});
