// A token endpoint on 127.0.0.1 that responds as the test decides and logs its requests.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface TokenRequest {
  method: string;
  path: string;
  authorization: string | undefined;
  form: Record<string, string>;
}

export interface TokenServer {
  url: string;
  requests: TokenRequest[];
}

type TokenResponse = { status?: number; body: unknown };

export async function startTokenServer(
  respond: (request: TokenRequest, index: number) => TokenResponse | Promise<TokenResponse>,
): Promise<TokenServer> {
  const requests: TokenRequest[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const received = {
      method: request.method ?? "",
      path: request.url ?? "",
      authorization: request.headers.authorization,
      form: Object.fromEntries(new URLSearchParams(Buffer.concat(pieces).toString())),
    };
    requests.push(received);
    const { status = 200, body } = await respond(received, requests.length - 1);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise((resolve) => void server.close(() => resolve()));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** A token with a readable expiry; its signature is not checked. */
export function jwt(expiresInSeconds: number, name = "user"): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const exp = Math.floor(Date.now() / 1000) + expiresInSeconds;
  return `${part({ alg: "none" })}.${part({ exp, sub: name })}.signature`;
}
