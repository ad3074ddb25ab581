// The management endpoint, for probes and Prometheus of the machine's operator. It shows counts, takes nothing, and is off
// unless an address is given.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { CommandError } from "@agentcli/command-line";
import type { ListenAddress } from "./listen-address.ts";
import type { WorkerMetrics } from "./metrics.ts";

export interface Management {
  /** http://HOST:PORT */
  url: string;
  close(): void;
}

export async function openManagement({ host, port }: ListenAddress, metrics: WorkerMetrics): Promise<Management> {
  const server: Server = createServer((request, response) => {
    const answer = answerTo(request.method ?? "", request.url ?? "", metrics);
    response.writeHead(answer.status, { "content-type": answer.type, "cache-control": "no-store" });
    response.end(request.method === "HEAD" ? undefined : answer.text);
  });
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw new CommandError("usage", `--management-addr ${host}:${port} cannot be used: ${(error as Error).message}.`);
  }
  server.unref();
  const { port: chosen } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${chosen}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Answer {
  status: number;
  type: string;
  text: string;
}

function answerTo(method: string, url: string, metrics: WorkerMetrics): Answer {
  const plain = (status: number, text: string): Answer => ({ status, type: "text/plain; charset=utf-8", text });
  if (!["GET", "HEAD"].includes(method)) return plain(405, "Use GET.\n");
  switch (url.split("?")[0]) {
    case "/healthz":
      return plain(200, "ok\n");
    case "/readyz":
      return metrics.isConnected() ? plain(200, "connected\n") : plain(503, "not connected\n");
    case "/metrics":
      return { status: 200, type: "text/plain; version=0.0.4; charset=utf-8", text: metrics.text() };
    default:
      return plain(404, "This worker serves /healthz, /readyz and /metrics.\n");
  }
}
