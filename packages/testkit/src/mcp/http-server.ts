// An MCP server over HTTP for tests: each tool responds in another way that servers may.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  message: { id?: number; method?: string; params?: { name?: string } };
}

export interface HttpMcpServer {
  url: string;
  requests: ReceivedRequest[];
  /** Like a restart: earlier sessions are unknown. */
  forgetSessions(): void;
}

export type Respond = (request: ReceivedRequest, response: ServerResponse) => boolean;

/** `respond` returns true where it has answered the request itself. */
export async function startHttpMcpServer(respond: Respond = () => false): Promise<HttpMcpServer> {
  const requests: ReceivedRequest[] = [];
  let session = 1;
  const server = createServer(async (request, response) => {
    const message = JSON.parse((await bodyOf(request)) || "{}");
    const entry = { method: request.method ?? "", path: request.url ?? "", headers: request.headers, message };
    requests.push(entry);
    if (respond(entry, response)) return;
    const known = request.headers["mcp-session-id"] === `session-${session}`;
    if (message.method !== "initialize" && !known) return void response.writeHead(404).end();
    if (request.method === "GET") return listen(request, response);
    if (request.method === "DELETE" || message.id === undefined) return void response.writeHead(202).end();
    response.setHeader("mcp-session-id", `session-${session}`);
    answer(entry, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    requests,
    forgetSessions: () => {
      session += 1;
    },
  };
}

export function sendJson(response: ServerResponse, value: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}

const text = (value: string) => ({ content: [{ type: "text", text: value }] });
const tools = ["echo", "streamed", "cut", "resumed", "odd", "wrong-type", "error", "never"].map((name) => ({
  name,
  inputSchema: { type: "object" },
}));

function answer({ message }: ReceivedRequest, response: ServerResponse): void {
  const { id, method, params } = message;
  const result = (value: object) => ({ jsonrpc: "2.0", id, result: value });
  const answers: Record<string, () => void> = {
    initialize: () => sendJson(response, result(initializeResult)),
    "tools/list": () => sendJson(response, result({ tools })),
    echo: () => sendJson(response, result(text("over HTTP"))),
    streamed() {
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
      response.write(": a comment\n\nevent: message\r\ndata: ");
      response.end(`${JSON.stringify(result(text("streamed"))).replace(",", ",\ndata: ")}\r\n\r\n`);
    },
    cut() {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: \n\n", () => response.destroy());
    },
    resumed() {
      resumable = result(text("resumed"));
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end("id: event-1\nretry: 100\ndata: \n\n");
    },
    odd: () => void response.writeHead(200, { "content-type": "application/json" }).end("{"),
    "wrong-type": () => void response.writeHead(200, { "content-type": "text/html" }).end("<p>hello"),
    error: () => void response.writeHead(500).end("the database is away"),
    never: () => void response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders(),
  };
  answers[params?.name ?? method ?? ""]?.();
}

const initializeResult = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: {} },
  serverInfo: { name: "small", version: "1" },
};

let resumable: object | null = null;

function listen(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers["last-event-id"] !== "event-1") return void response.writeHead(405).end();
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(`id: event-2\ndata: ${JSON.stringify(resumable)}\n\n`);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const piece of request) body += piece;
  return body;
}
