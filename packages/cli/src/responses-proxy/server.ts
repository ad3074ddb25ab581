// The proxy's server on loopback: who may ask, for what, and how much at once.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inTurn } from "@agentcli/workspace/http";
import { forward } from "./forward.ts";
import { refusals, refuse } from "./refusal.ts";
import type { ClientTokens } from "./tokens.ts";
import type { Upstream } from "./upstream.ts";

export interface ProxyOptions {
  upstream: Upstream;
  key: Buffer;
  tokens: ClientTokens;
  maxBodyBytes: number;
  maxConcurrent: number;
  /** Called for a client's POST /shutdown; undefined: there is none. */
  onShutdown: (() => void) | undefined;
}

export interface Proxy {
  port: number;
  close(): Promise<void>;
}

export async function openProxy(options: ProxyOptions): Promise<Proxy> {
  const server = createServer();
  // A turn may think for longer than any limit that would be sensible here; the client has its own.
  server.requestTimeout = 0;
  const answer = router(options, server);
  server.on("request", inTurn(answer));
  // Otherwise Node would invite every body before it has been looked at.
  server.on(
    "checkContinue",
    inTurn((request, response) => answer(request, response, "continue")),
  );
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        options.upstream.agent.destroy();
      }),
  };
}

type Answer = (request: IncomingMessage, response: ServerResponse, awaited?: "continue") => void;

function router(options: ProxyOptions, server: Server): Answer {
  const { upstream, key, tokens, maxBodyBytes, maxConcurrent, onShutdown } = options;
  let underWay = 0;
  const pass = (request: IncomingMessage, response: ServerResponse, target: URL): void => {
    if (underWay >= maxConcurrent) return void refuse(response, refusals.busy);
    underWay += 1;
    response.once("close", () => {
      underWay -= 1;
    });
    forward(request, response, { upstream, key, maxBodyBytes, target });
  };
  return (request, response, awaited) => {
    // A client that goes away in the middle is not a failure of the proxy.
    response.on("error", () => {});
    const { method, url } = request;
    const route = `${method} ${url}`;
    if (!isLoopback(request.headers.host, server)) return refuse(response, refusals.notServed);
    if (route === "GET /healthz") return send(response, { status: "ok", active: underWay });
    if (!tokens.accepts(request.headers.authorization)) return refuse(response, refusals.unauthorized);
    if (onShutdown && /^(?:GET|POST) \/shutdown$/.test(route)) {
      response.once("close", onShutdown);
      return send(response, { status: "stopping" });
    }
    const target = targets(upstream)[route];
    if (target === undefined) return refuse(response, refusals.notServed);
    if (awaited) response.writeContinue();
    pass(request, response, target);
  };
}

const targets = ({ responses, models }: Upstream): Record<string, URL> => ({
  "POST /v1/responses": responses,
  "GET /v1/models": models,
});

/** A page in a browser can make its own name lead to 127.0.0.1; then that name is in the header. */
function isLoopback(host: string | undefined, server: Server): boolean {
  const { port } = server.address() as AddressInfo;
  return host === `127.0.0.1:${port}` || host === `localhost:${port}`;
}

function send(response: ServerResponse, body: object): void {
  response.writeHead(200, { "content-type": "application/json", connection: "close" });
  response.end(JSON.stringify(body));
}
