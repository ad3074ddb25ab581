// A server on 127.0.0.1 that answers as a test says, and a clock that does not make it wait.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { accountCalls } from "../src/account.ts";
import { agentCalls } from "../src/agents.ts";
import type { Runtime } from "../src/runtime.ts";

export interface Asked {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: Record<string, unknown>;
}

export type Answer = (asked: Asked, response: ServerResponse, count: number) => void;

export interface ScriptedPlatform {
  Agent: ReturnType<typeof agentCalls>;
  Platform: ReturnType<typeof accountCalls>;
  url: string;
  /** What was asked, in order. */
  asked: Asked[];
  /** How long the SDK would have waited, in milliseconds. */
  waits: number[];
  /** The paths that were asked, in order. */
  paths(): string[];
}

export const agentId = "bc-00000000-0000-4000-8000-000000000001";
export const runId = "run-00000000-0000-4000-8000-000000000001";
export const runPath = `/v1/agents/${agentId}/runs/${runId}`;

export const wireRun = (more: object = {}) => ({
  id: runId,
  agentId,
  status: "RUNNING",
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
  ...more,
});

/** `count` is how often this method and path was asked before. */
export async function scriptedPlatform(answers: Record<string, Answer>): Promise<ScriptedPlatform> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    receive(request).then((one) => {
      const name = `${one.method} ${one.path.split("?")[0]}`;
      const count = asked.filter((before) => `${before.method} ${before.path.split("?")[0]}` === name).length;
      asked.push(one);
      const answer = answers[name];
      if (answer) answer(one, response, count);
      else refuse(response, 404, { error: { code: "not_found", message: `${name} is not in the script` } });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { runtime, waits } = quickRuntime({ PLATFORM_BACKEND_URL: url, PLATFORM_API_KEY: "plt_test" });
  return {
    Agent: agentCalls(runtime),
    Platform: accountCalls(runtime),
    url,
    asked,
    waits,
    paths: () => asked.map(({ path }) => path),
  };
}

/** Time passes only by waiting, and waiting takes no time. */
export function quickRuntime(variables: Record<string, string>): { runtime: Runtime; waits: number[] } {
  const waits: number[] = [];
  let ids = 0;
  const clock = {
    now: () => waits.reduce((sum, ms) => sum + ms, 0),
    async wait(ms: number, signal: AbortSignal) {
      signal.throwIfAborted();
      waits.push(ms);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  const newId = () => `00000000-0000-4000-8000-${String(++ids).padStart(12, "0")}`;
  return { runtime: { variables, clock, newId }, waits };
}

export const json =
  (body: unknown): Answer =>
  (_, response) =>
    refuse(response, 200, body);

export function refuse(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) {
  response.writeHead(status, { "content-type": "application/json", "x-request-id": "req-1", ...headers });
  response.end(JSON.stringify(body));
}

export const problem =
  (status: number, code: string): Answer =>
  (_, response) =>
    refuse(response, status, { error: { code, message: `no: ${code}` } });

export const frame = (event: string, data: unknown, id?: string): string =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** Sends these bytes, then ends as it should or breaks off. */
export function sendEvents(response: ServerResponse, text: string | Uint8Array, end: "end" | "break" = "end"): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  if (end === "end") response.end(text);
  else response.write(text, () => response.destroy());
}

async function receive(request: IncomingMessage): Promise<Asked> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  const { method = "", url = "", headers } = request;
  return { method, path: url, headers, body: text === "" ? {} : JSON.parse(text) };
}
