// The bridge as a program: who may call it, what it refuses, and that it leaves nothing.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { relative } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { type CurledBridge, curl, startBridge } from "./curl-scenario-runner.ts";
import { agentId, frame, json, problem, runId, runPath, scriptedPlatform, wireRun } from "./scripted-platform.ts";

const program = fileURLToPath(new URL("../bin/platform-sdk.mjs", import.meta.url));

async function bridgeTo(url: string): Promise<CurledBridge> {
  const bridge = await startBridge({ PLATFORM_BACKEND_URL: url, PLATFORM_API_KEY: "plt_test" });
  onTestFinished(bridge.close);
  return bridge;
}

const post = (url: string, init: RequestInit) => fetch(url, { method: "POST", ...init });

const errorIn = async (answer: Response) => ((await answer.json()) as { error: { name: string; code: string } }).error;

test("only who can read the token file may call", async () => {
  const bridge = await bridgeTo("http://127.0.0.1:9");
  expect(statSync(bridge.tokenFile).mode & 0o777).toBe(0o600);
  const ping = `${bridge.url}/sdk.v1.SdkBridgeControlService/Ping`;
  for (const authorization of [undefined, "Bearer ", "Bearer wrong", readFileSync(bridge.tokenFile, "utf8")]) {
    const answer = await post(ping, authorization === undefined ? {} : { headers: { authorization } });
    expect([answer.status, (await errorIn(answer)).code]).toEqual([401, "unauthorized"]);
  }
  expect(JSON.parse(await curl(bridge, "SdkBridgeControlService/Ping", {}))).toMatchObject({ version: "0.1.0" });
});

test("a sandboxed process that has the token is refused, and sandboxes hide the file", async () => {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const bridge = await startBridge({ HOME: home.path, PLATFORM_API_KEY: "plt_test" });
  onTestFinished(bridge.close);
  expect(relative(home.path, bridge.tokenFile)).toMatch(/^\.platform\/sdk\/bridge-\w+\/token$/);
  const request = [
    ...[
      "curl",
      "--silent",
      "--data",
      "{}",
      "--header",
      `Authorization: Bearer ${readFileSync(bridge.tokenFile, "utf8")}`,
    ],
    `${bridge.url}/sdk.v1.SdkBridgeControlService/Ping`,
  ];
  const run = async ([name = "", ...args]: string[]) => JSON.parse((await promisify(execFile)(name, args)).stdout);
  expect(await run(request)).toMatchObject({ version: "0.1.0" });
  expect(await run(["bwrap", "--unshare-user", "--dev-bind", "/", "/", ...request])).toMatchObject({
    error: { name: "ConfigurationError", code: "sandboxed" },
  });
});

test("a request that is not a call is refused with a message", async () => {
  const bridge = await bridgeTo("http://127.0.0.1:9");
  const headers = { authorization: `Bearer ${readFileSync(bridge.tokenFile, "utf8")}` };
  const refused = async (path: string, body: string) => {
    const answer = await post(`${bridge.url}${path}`, { headers, body });
    return [answer.status, (await errorIn(answer)).code];
  };
  expect(await refused("/sdk.v1.SdkAgentService/Fly", "{}")).toEqual([404, "not_found"]);
  expect(await refused("/sdk.v1.SdkAgentService/Send", "{")).toEqual([400, "invalid_json"]);
  expect(await refused("/sdk.v1.SdkAgentService/Send", "[]")).toEqual([400, "invalid_json"]);
  expect(await refused("/sdk.v1.SdkAgentService/Send", '{"agent":"agent-1"}')).toEqual([400, "invalid_option"]);
  expect(await refused("/sdk.v1.SdkAgentService/GetAgent", '{"agentId":7}')).toEqual([400, "invalid_option"]);
});

test("errors of the platform come through as they are, and one that is away is a bad gateway", async () => {
  const platform = await scriptedPlatform({ "GET /v1/me": problem(401, "unauthorized") });
  const error = await curl(await bridgeTo(platform.url), "SdkPlatformService/Me", {}).catch((thrown) => thrown);
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ name: "AuthenticationError", status: 401 });
  const away = await bridgeTo("http://127.0.0.1:9");
  const headers = { authorization: `Bearer ${readFileSync(away.tokenFile, "utf8")}` };
  const answer = await post(`${away.url}/sdk.v1.SdkAgentService/DeleteAgent`, {
    headers,
    body: JSON.stringify({ agentId }),
  });
  expect([answer.status, (await errorIn(answer)).name]).toEqual([502, "NetworkError"]);
});

test("an agent is named by its id from the beginning", async () => {
  const platform = await scriptedPlatform({
    "POST /v1/agents": (asked, response, count) =>
      json({ agent: { id: asked.body.agentId }, run: wireRun({ agentId: asked.body.agentId }) })(
        asked,
        response,
        count,
      ),
  });
  const bridge = await bridgeTo(platform.url);
  const ask = async (method: string, params: object) =>
    JSON.parse(await curl(bridge, `SdkAgentService/${method}`, params));
  const { agentId: id } = await ask("CreateAgent", { options: {} });
  expect(await ask("Send", { agentId: id, message: "Go" })).toMatchObject({ id: runId, agentId: id });
  expect(platform.asked.map(({ body }) => body.agentId)).toEqual([id]);
  const unnamed = await ask("CreateAgent", { options: { cloud: { envVars: { A: "1" } } } });
  expect(Object.keys(unnamed)).toEqual(["agent"]);
});

test("a run can be followed as the frames that its messages are made from", async () => {
  const frames = [
    frame("status", { runId, status: "RUNNING" }),
    frame("assistant", { text: "Hi" }, "1-1"),
    frame("result", { runId, status: "FINISHED", text: "Hi" }, "1-2"),
  ];
  const platform = await scriptedPlatform({
    [`GET ${runPath}`]: json(wireRun()),
    [`GET ${runPath}/stream`]: (_, response) => void response.end(frames.join("")),
  });
  const bridge = await bridgeTo(platform.url);
  const sent = await curl(bridge, "SdkAgentService/FollowRun", { agentId, runId });
  expect(sent).toBe(frames.map((text) => text.replace(/^id: .*\n/, "")).join(""));
  const failed = await curl(await bridgeTo(platform.url), "SdkAgentService/FollowRun", { agentId: "bc-", runId }).catch(
    (error: unknown) => error,
  );
  expect(JSON.parse(JSON.stringify(failed))).toMatchObject({ name: "ConfigurationError", code: "invalid_id" });
});

test("a reader that leaves ends the reading", async () => {
  let leave = () => {};
  const gone = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const platform = await scriptedPlatform({
    [`GET ${runPath}`]: json(wireRun()),
    [`GET ${runPath}/stream`]: (_, response) => {
      response.on("close", leave);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(frame("status", { runId, status: "RUNNING" }));
    },
  });
  const bridge = await bridgeTo(platform.url);
  const leaving = new AbortController();
  const answer = await post(`${bridge.url}/sdk.v1.SdkAgentService/StreamRun`, {
    headers: { authorization: `Bearer ${readFileSync(bridge.tokenFile, "utf8")}` },
    body: JSON.stringify({ agentId, runId }),
    signal: leaving.signal,
  });
  const reader = answer.body?.getReader();
  for (let text = ""; !text.includes("RUNNING"); ) text += new TextDecoder().decode((await reader?.read())?.value);
  leaving.abort();
  await gone;
});

test("it ends when told to, and its token with it", async () => {
  const bridge = await startBridge({ PLATFORM_API_KEY: "plt_test" });
  await curl(bridge, "SdkBridgeControlService/Shutdown", {});
  await bridge.close();
  expect(existsSync(bridge.tokenFile)).toBe(false);
});

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
  "%s at its first word ends it, and its token with it",
  async (signal) => {
    const child = spawn(process.execPath, [program, "bridge"], { stdio: ["ignore", "ignore", "pipe"] });
    const ended = once(child, "exit");
    const [line] = await once(createInterface(child.stderr), "line");
    child.kill(signal);
    expect(await ended).toEqual([0, null]);
    expect(existsSync(JSON.parse(String(line).replace("platform-sdk-bridge ready ", "")).authTokenFile)).toBe(false);
  },
);

test("wrong usage says what is right", async () => {
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [program, ...args]).catch(
      (failure: { code: number; stderr: string }) => failure,
    );
  expect(await run("fly")).toMatchObject({ code: 2, stderr: expect.stringContaining("Usage: platform-sdk bridge") });
  expect(await run("bridge", "--port", "many")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("not a port"),
  });
  expect(await run("--version")).toMatchObject({ stdout: "0.1.0\n" });
});
