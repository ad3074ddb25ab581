// A machine for local agents: a repository, a home of their own, and a platform that only has a scripted model.
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  type LoggedRequest,
  type Reply,
  type Script,
  startModelServer,
  type TemporaryRepository,
  temporaryDirectory,
  temporaryRepository,
} from "@agentcli/testkit";
import { onTestFinished } from "vitest";
import type { AgentCalls } from "../src/agent-calls.ts";
import { agentCalls } from "../src/agents.ts";
import type { SDKMessage } from "../src/messages.ts";
import type { AgentOptions } from "../src/options.ts";
import type { Run } from "../src/run.ts";
import type { Runtime } from "../src/runtime.ts";

export const model = { id: "scripted" };
export const key = "plt_test_0123456789abcdef";

export interface LocalHarness {
  Agent: AgentCalls;
  repository: TemporaryRepository;
  /** Of the user; agents are kept below it. */
  home: string;
  sdkHome: string;
  backendUrl: string;
  /** What a process needs to be on the same machine. */
  variables: Record<string, string>;
  /** What the model was asked, in order. */
  requests(): LoggedRequest[];
  /** The usual options of an agent here. */
  options(more?: Partial<AgentOptions>): AgentOptions;
}

export async function openLocalHarness(
  script: Script | Reply[],
  files: Record<string, string> = { "README.md": "# Sample\n" },
): Promise<LocalHarness> {
  const repository = await temporaryRepository(files);
  const home = await temporaryDirectory();
  const scripted = await startModelServer(script);
  const platform = await startPlatform(scripted.url);
  onTestFinished(async () => {
    await platform.close();
    await scripted.close();
    await repository.remove();
    await home.remove();
  });
  const variables = {
    PATH: process.env.PATH ?? "",
    HOME: home.path,
    PLATFORM_BACKEND_URL: platform.url,
    PLATFORM_API_KEY: key,
  };
  return {
    Agent: agentCalls(runtimeWith(variables)),
    repository,
    home: home.path,
    sdkHome: join(home.path, ".platform", "sdk"),
    backendUrl: platform.url,
    variables,
    requests: scripted.requests,
    options: ({ local, ...more } = {}) => ({ model, local: { cwd: repository.path, ...local }, ...more }),
  };
}

export const runtimeWith = (variables: Record<string, string>): Runtime => ({
  variables,
  clock: { now: () => performance.now(), wait: (ms, signal) => delay(ms, undefined, { signal }) },
  newId: () => crypto.randomUUID(),
});

export async function readAll(run: Run): Promise<SDKMessage[]> {
  const messages: SDKMessage[] = [];
  for await (const message of run.stream()) messages.push(message);
  return messages;
}

/** What the model was sent, as text. */
export const bodiesOf = (harness: Pick<LocalHarness, "requests">): string[] =>
  harness.requests().map(({ body }) => JSON.stringify(body));

/** The two routes a local agent asks. */
async function startPlatform(modelUrl: string): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((asked, response) => {
    if (asked.headers.authorization !== `Bearer ${key}`) return answer(response, 401, problem);
    if (asked.method === "GET" && asked.url === "/v1/models") return answer(response, 200, { items: [model] });
    if (asked.url === "/v1/inference/responses") return passOn(asked, response, `${modelUrl}/responses`);
    return answer(response, 404, problem);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => closed(server) };
}

const problem = { error: { code: "unauthorized", message: "The key is not known." } };

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function passOn(asked: IncomingMessage, response: ServerResponse, url: string): void {
  const passed = request(url, { method: "POST", headers: asked.headers }, (answered) => {
    response.writeHead(answered.statusCode ?? 500, answered.headers);
    answered.pipe(response);
  });
  passed.on("error", () => response.destroy());
  response.on("close", () => passed.destroy());
  asked.pipe(passed);
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
