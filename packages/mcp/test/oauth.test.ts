import { connect } from "node:net";
import { startGuardedServer, startHttpMcpServer } from "@agentcli/testkit/mcp";
import { describe, expect, onTestFinished, test } from "vitest";
import { type CredentialStore, type Credentials, logIn, oauthAuthorization, readSettings } from "../src/index.ts";
import { openLoopback } from "../src/oauth/loopback.ts";
import { openHarness, textOf } from "./harness.ts";

function memory(): CredentialStore & { kept: Map<string, Credentials> } {
  const kept = new Map<string, Credentials>();
  return {
    kept,
    read: async (server) => kept.get(server) ?? null,
    write: async (server, credentials) => void kept.set(server, credentials),
    remove: async (server) => kept.delete(server),
  };
}

const unattended = (store: CredentialStore) => ({
  authorize: (server: string, transport: Parameters<typeof oauthAuthorization>[0]["transport"]) =>
    oauthAuthorization({ server, transport, store, clientName: "test", consent: null, advice: "log in again" }),
});

async function loggedIn() {
  const { grants, server, authorizationServer } = await startGuardedServer();
  const store = memory();
  const result = await logInTo(server.url, store);
  return { grants, server, store, result, authorizationServer };
}

async function logInTo(url: string, store: CredentialStore, changes: object = {}) {
  const read = readSettings("web", { url, ...changes });
  if (read.kind === "problem" || read.settings.transport.kind !== "http") throw new Error("not a server over HTTP");
  const { transport } = read.settings;
  return logIn(
    {
      settings: { ...read.settings, transport },
      host: {
        client: { name: "test", version: "1" },
        root: "/",
        variables: {},
        sanitize: (text) => text,
        workspaceFor: () => Promise.reject(new Error("no process")),
      },
      store,
      show: (address) => void visit(address),
      timeoutMs: 10_000,
    },
    new AbortController().signal,
  );
}

/** The browser of a user who always consents; other requests arrive first. */
async function visit(address: URL): Promise<void> {
  const back = new URL(address.searchParams.get("redirect_uri") ?? "");
  expect((await fetch(`${back.href}?code=forged&state=wrong`)).status).toBe(404);
  const response = await fetch(address, { redirect: "manual" });
  expect((await fetch(response.headers.get("location") ?? "")).status).toBe(200);
}

describe("a login", () => {
  test("registers, uses PKCE and stores the granted tokens", async () => {
    const { result, store, grants, server } = await loggedIn();
    expect(result).toEqual({ kind: "logged-in" });
    expect(store.kept.get("web")).toMatchObject({
      url: server.url,
      client: { client_id: "made-up" },
      tokens: { access_token: "access-1", refresh_token: "refresh-1" },
    });
    expect(Object.fromEntries(grants.authorizations[0] ?? [])).toMatchObject({
      client_id: "made-up",
      code_challenge_method: "S256",
      scope: "read",
      resource: server.url,
    });
  });

  test("asks for the scopes that are configured, as the client that is configured", async () => {
    const { server, grants } = await startGuardedServer();
    const changes = { scopes: ["read", "write"], oauth: { client_id: "by-hand" } };
    expect(await logInTo(server.url, memory(), changes)).toEqual({ kind: "logged-in" });
    expect(Object.fromEntries(grants.authorizations[0] ?? [])).toMatchObject({
      client_id: "by-hand",
      scope: "read write",
    });
  });

  test.each(["file:///tmp/page.desktop", "ssh://host/", "vscode://open?x=y", "FILE:/etc/passwd"])(
    "opens no program for %s, which a server names as its login page",
    async (loginPage) => {
      const { server } = await startGuardedServer({ loginPage });
      const message = expect.stringContaining("its login page is not a web address");
      expect(await logInTo(server.url, memory())).toMatchObject({ kind: "failed", message });
    },
  );

  test("is not needed if the server requires none", async () => {
    const { url } = await startHttpMcpServer();
    expect(await logInTo(url, memory())).toEqual({ kind: "not-needed" });
  });
});

describe("an unattended run", () => {
  test("sends the token of the login, and refreshes one that is no longer accepted", async () => {
    const { grants, server, store } = await loggedIn();
    grants.access.clear();
    const { servers, call } = await openHarness({ web: { url: server.url } }, unattended(store));
    expect(await servers.started()).toMatchObject([{ status: "ready" }]);
    expect(textOf(await call("echo"))).toContain("over HTTP");
    expect(grants.granted).toBe(2);
    expect(store.kept.get("web")?.tokens.access_token).toBe("access-2");
  });

  test("uses tokens that another process refreshed instead of a spent refresh token", async () => {
    const { grants, server, store } = await loggedIn();
    const { servers, call } = await openHarness({ web: { url: server.url } }, unattended(store));
    await servers.started();
    grants.access.delete("access-1");
    grants.access.add("elsewhere");
    grants.refresh.clear();
    const before = store.kept.get("web");
    if (before) store.kept.set("web", { ...before, tokens: { ...before.tokens, access_token: "elsewhere" } });
    expect(textOf(await call("echo"))).toContain("over HTTP");
  });

  test("opens no login: with a spent refresh token, or none, the reason says what to do", async () => {
    const { grants, server, store } = await loggedIn();
    grants.access.clear();
    grants.refresh.clear();
    const spent = await openHarness({ web: { url: server.url } }, unattended(store));
    expect((await spent.servers.started())[0]).toMatchObject({
      status: "failed",
      reason: expect.stringMatching(/could not get a token: its refresh token is no longer valid; log in again$/),
    });
    const none = await openHarness({ web: { url: server.url } }, unattended(memory()));
    expect((await none.servers.started())[0]?.reason).toBe("it refused the request (HTTP 401); log in again");
    expect(grants.authorizations).toHaveLength(1);
  });

  test.each([
    ["none", undefined],
    ["a number", 5],
    ["an object", {}],
    ["an empty text", ""],
  ])(
    "does not refresh a login that was stored without its issuer, or with %s: the MCP server could name any",
    async (_, stored) => {
      const { grants, server, store } = await loggedIn();
      grants.access.clear();
      const { url, client, tokens } = store.kept.get("web") as Credentials;
      const { issuer, ...unbound } = tokens;
      expect(issuer).toBeTruthy();
      store.kept.set("web", {
        url,
        client,
        tokens: { ...unbound, ...(stored !== undefined && { issuer: stored as string }) },
      });
      const { servers } = await openHarness({ web: { url: server.url } }, unattended(store));
      expect((await servers.started())[0]).toMatchObject({
        status: "failed",
        reason: expect.stringMatching(/the stored login does not say which server issued it; log in again$/),
      });
      expect([...grants.refresh]).toEqual(["refresh-1"]);
    },
  );

  test("does not send a refresh token to an authorization server that did not issue it", async () => {
    const { grants, server, store } = await loggedIn();
    grants.access.clear();
    const { url, client, tokens } = store.kept.get("web") as Credentials;
    store.kept.set("web", { url, client, tokens: { ...tokens, issuer: "https://other.example" } });
    const { servers } = await openHarness({ web: { url: server.url } }, unattended(store));
    expect((await servers.started())[0]).toMatchObject({ status: "failed" });
    expect([...grants.refresh]).toEqual(["refresh-1"]);
  });

  test.each(["GET // HTTP/1.1", "GET http://[ HTTP/1.1", "GET //x:99999/ HTTP/1.1", "OPTIONS * HTTP/1.1"])(
    "goes on while any other program sends %s to where the browser is expected",
    async (line) => {
      const loopback = await openLoopback(undefined, () => {});
      onTestFinished(() => loopback.close());
      const { port } = new URL(loopback.redirectUrl);
      const ask = async (first: string, host = `127.0.0.1:${port}`) => {
        const socket = connect(Number(port), "127.0.0.1").setEncoding("utf8");
        socket.end(`${first}\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
        let answer = "";
        for await (const text of socket) answer += text;
        return answer.split("\r\n")[0];
      };
      expect(await ask(line)).toMatch(/ (?:404 Not Found|400 Bad Request)$/);
      const callback = `GET /callback?code=secret&state=${loopback.state} HTTP/1.1`;
      expect(await ask(callback, "rebound.example.com")).toContain(" 404 ");
      expect(await ask(callback)).toContain(" 200 ");
      expect(await loopback.ask(new URL("https://example.com"), new AbortController().signal)).toBe("secret");
    },
  );

  test("does not send tokens of one address to another", async () => {
    const { store } = await loggedIn();
    const stranger = await startHttpMcpServer();
    const { servers } = await openHarness({ web: { url: stranger.url } }, unattended(store));
    await servers.started();
    expect(stranger.requests.map(({ headers }) => headers.authorization)).not.toContain("Bearer access-1");
  });
});
