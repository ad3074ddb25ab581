// An MCP server that requires a login, for tests, with its authorization server.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { sendJson, startHttpMcpServer } from "./http-server.ts";

export interface Grants {
  /** Refresh tokens the server accepts, each once. */
  refresh: Set<string>;
  /** Access tokens it accepts. */
  access: Set<string>;
  granted: number;
  authorizations: URLSearchParams[];
}

/** An MCP server that requires a token, and the authorization server that issues it. */
export async function startGuardedServer({ loginPage }: { loginPage?: string } = {}) {
  const grants: Grants = { refresh: new Set(), access: new Set(), granted: 0, authorizations: [] };
  const authorizationServer = await startAuthorizationServer(grants, loginPage);
  const server = await startHttpMcpServer(({ headers, path }, response) => {
    const origin = `http://${headers.host}`;
    if (path.startsWith("/.well-known/oauth-protected-resource")) {
      sendJson(response, { resource: `${origin}/mcp`, authorization_servers: [authorizationServer] });
      return true;
    }
    if (grants.access.has((headers.authorization ?? "").replace("Bearer ", ""))) return false;
    const challenge = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="read"`;
    response.writeHead(401, { "www-authenticate": challenge }).end();
    return true;
  });
  return { grants, server, authorizationServer };
}

async function startAuthorizationServer(grants: Grants, loginPage?: string): Promise<string> {
  const server = createServer(async (request, response) => {
    const origin = `http://${request.headers.host}`;
    const { pathname, searchParams } = new URL(request.url ?? "/", origin);
    let body = "";
    for await (const piece of request) body += piece;
    if (pathname === "/.well-known/oauth-authorization-server") {
      return sendJson(response, {
        issuer: origin,
        authorization_endpoint: loginPage ?? `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
      });
    }
    if (pathname === "/register") return sendJson(response, { ...JSON.parse(body), client_id: "made-up" });
    if (pathname === "/authorize") {
      grants.authorizations.push(searchParams);
      const back = new URL(searchParams.get("redirect_uri") ?? "");
      back.search = new URLSearchParams({ code: "consented", state: searchParams.get("state") ?? "" }).toString();
      return void response.writeHead(302, { location: back.href }).end();
    }
    if (pathname !== "/token") return void response.writeHead(404).end();
    const form = new URLSearchParams(body);
    const isValid = form.get("code") === "consented" || grants.refresh.delete(form.get("refresh_token") ?? "");
    if (!isValid) {
      return void response.writeHead(400, { "content-type": "application/json" }).end('{"error":"invalid_grant"}');
    }
    grants.granted += 1;
    grants.access.add(`access-${grants.granted}`);
    grants.refresh.add(`refresh-${grants.granted}`);
    sendJson(response, {
      access_token: `access-${grants.granted}`,
      refresh_token: `refresh-${grants.granted}`,
      token_type: "bearer",
      expires_in: 3600,
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
