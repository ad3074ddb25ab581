// A small MCP server on the transport of before 2025-03: an event stream for responses, another address for messages.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface LegacyServer {
  url: string;
  /** Headers of every request, in order. */
  seen: { method: string; headers: Record<string, string | string[] | undefined> }[];
  /** Drops the stream. */
  drop(): void;
}

/** `endpoint` is what the server names as the address for messages; `refuses` says whether a request is answered with 401. */
export async function startLegacyServer({
  endpoint = "/messages?session=7",
  refuses = () => false,
}: {
  endpoint?: string;
  refuses?(headers: Record<string, string | string[] | undefined>): boolean;
} = {}): Promise<LegacyServer> {
  const seen: LegacyServer["seen"] = [];
  let stream: ServerResponse | null = null;
  const server = createServer(async (request, response) => {
    seen.push({ method: request.method ?? "", headers: request.headers });
    if (refuses(request.headers)) return void response.writeHead(401).end();
    if (request.method === "GET") {
      stream = response.writeHead(200, { "content-type": "text/event-stream" });
      stream.write(`event: endpoint\ndata: ${endpoint}\n\n`);
      return;
    }
    let body = "";
    for await (const piece of request) body += piece;
    if (request.url !== "/messages?session=7") return void response.writeHead(404).end();
    response.writeHead(202).end("Accepted");
    const { id, method } = JSON.parse(body);
    if (id !== undefined)
      stream?.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} })}\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`,
    seen,
    drop: () => void stream?.destroy(),
  };
}

const results: Record<string, object> = {
  initialize: {
    protocolVersion: "2024-11-05",
    capabilities: { tools: {} },
    serverInfo: { name: "old", version: "1" },
  },
  "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "over a stream" }] },
};
