// The OAuth pages of the fake GitHub. The user always consents.
import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Code, GithubState } from "./state.ts";
import { addGrant } from "./tokens.ts";

export const client = { id: "Iv1.fake", secret: "client-secret" };

/** False where the request is for another part of the server. */
export async function answerWeb(
  state: GithubState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const url = new URL(request.url ?? "", state.url);
  if (url.pathname === "/login/oauth/authorize") redirectBack(state, url, response);
  else if (url.pathname === "/login/oauth/access_token") await giveToken(state, request, response);
  else return false;
  return true;
}

function redirectBack(state: GithubState, { searchParams }: URL, response: ServerResponse): void {
  const target = new URL(searchParams.get("redirect_uri") ?? "");
  target.searchParams.set("code", newCode(state, { login: state.user, renews: null }));
  target.searchParams.set("state", searchParams.get("state") ?? "");
  response.writeHead(302, { location: target.href }).end();
}

async function giveToken(state: GithubState, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const form = new URLSearchParams(Buffer.concat(chunks).toString());
  const code = form.get("code") ?? form.get("refresh_token") ?? "";
  const found = state.codes.get(code);
  const isClient = form.get("client_id") === client.id && form.get("client_secret") === client.secret;
  if (isClient) state.codes.delete(code);
  const isGood = found !== undefined && !found.renews?.isRevoked;
  const answer = !isClient ? wrongClient : isGood ? tokensFor(state, found) : wrongCode;
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
}

const wrongClient = {
  error: "incorrect_client_credentials",
  error_description: "The client_id and/or client_secret passed are incorrect.",
};
const wrongCode = {
  error: "bad_verification_code",
  error_description: "The code passed is incorrect or expired.",
};

function tokensFor(state: GithubState, { login, renews }: Code) {
  // A refresh revokes the old token.
  if (renews) renews.isRevoked = true;
  const grant = addGrant(state, { kind: "person", login, repositories: null, permissions: userPermissions });
  return {
    access_token: grant.token,
    token_type: "bearer",
    expires_in: Math.floor(state.tokenLifeMs / 1_000),
    refresh_token: newCode(state, { login, renews: grant }),
  };
}

/** Permissions of the app, limited by those of the user. */
const userPermissions = { contents: "write", pull_requests: "write", metadata: "read" };

function newCode(state: GithubState, stands: Code): string {
  const code = randomBytes(10).toString("hex");
  state.codes.set(code, stands);
  return code;
}
