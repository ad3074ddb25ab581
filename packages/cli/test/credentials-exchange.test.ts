import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { jwt, startTokenServer } from "@agentcli/testkit/oauth";
import { openHostPrograms } from "@agentcli/workspace";
import { describe, expect, onTestFinished, test } from "vitest";
import { accountKey } from "../src/credentials/account.ts";
import { writeAuthFile } from "../src/credentials/auth-file.ts";
import { endpointUrl } from "../src/credentials/endpoint.ts";
import { workloadKey } from "../src/credentials/workload-identity.ts";

async function environment(variables: Record<string, string> = {}) {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const programs = openHostPrograms({ path: process.env.PATH, home: home.path, untrusted: [] });
  return {
    variables,
    programs,
    agentHome: home.path,
    userHome: home.path,
    systemDirectory: "/nowhere",
    cwd: home.path,
  };
}

const identityToken = "identity-token-that-must-stay-secret";
const granted = (index: number, expiresIn = 3600) => ({
  body: { access_token: `key-${index}`, issued_token_type: "x", token_type: "Bearer", expires_in: expiresIn },
});

describe("workload identity", () => {
  test("exchanges the token of a file, read anew each time, as RFC 8693 says", async () => {
    const server = await startTokenServer((_, index) => granted(index, 30));
    const context = await environment();
    const tokenFile = join(context.agentHome, "token");
    writeFileSync(tokenFile, `${identityToken}\n`);
    const source = workloadKey({ token_endpoint: server.url, audience: "models", token_file: tokenFile }, context);
    expect(await source()).toBe("key-0");
    writeFileSync(tokenFile, "the-next-one");
    expect(await source()).toBe("key-1");
    expect(server.requests.map(({ form }) => form.subject_token)).toEqual([identityToken, "the-next-one"]);
    expect(server.requests[0]).toMatchObject({
      method: "POST",
      form: {
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
        audience: "models",
      },
    });
  });

  test("keeps a key that lasts, and exchanges again for one that was refused", async () => {
    const server = await startTokenServer((_, index) => granted(index));
    const context = await environment({ RUNNER_JWT: identityToken });
    const source = workloadKey({ token_endpoint: server.url, audience: "a", token_env: "RUNNER_JWT" }, context);
    expect([await source(), await source(), await source("key-0"), await source()]).toEqual([
      "key-0",
      "key-0",
      "key-1",
      "key-1",
    ]);
    expect(server.requests).toHaveLength(2);
  });

  test("asks the workflow runner for a token made out to the audience", async () => {
    const server = await startTokenServer((request, index) =>
      request.method === "GET" ? { body: { value: identityToken } } : granted(index),
    );
    const context = await environment({
      ACTIONS_ID_TOKEN_REQUEST_URL: `${server.url}/idtoken?api-version=2`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: "runner-secret",
    });
    const source = workloadKey({ token_endpoint: `${server.url}/exchange`, audience: "https://models/" }, context);
    expect(await source()).toBe("key-1");
    expect(server.requests[0]).toMatchObject({
      path: "/idtoken?api-version=2&audience=https%3A%2F%2Fmodels%2F",
      authorization: "bearer runner-secret",
    });
    expect(server.requests[1]).toMatchObject({ path: "/exchange", form: { subject_token: identityToken } });
  });

  test("tries again where the endpoint fails", async () => {
    const server = await startTokenServer((_, index) => (index < 2 ? { status: 503, body: "busy" } : granted(index)));
    const context = await environment({ T: identityToken });
    expect(await workloadKey({ token_endpoint: server.url, audience: "a", token_env: "T" }, context)()).toBe("key-2");
  });

  test.each([
    [
      "a refusal",
      { status: 403, body: { error: "invalid_grant", error_description: `No rule fits ${identityToken}` } },
      "HTTP 403: invalid_grant: No rule fits [REDACTED]",
    ],
    ["an answer that is not JSON", { body: "<html>" }, "did not answer with a JSON object"],
    ["an answer without a key", { body: { token: "x" } }, "without a usable access_token"],
    ["a key with a line break", { body: { access_token: "a\nb" } }, "without a usable access_token"],
  ])("%s is an error with exit code 3 that does not show the token", async (_, answer, message) => {
    const server = await startTokenServer(() => answer);
    const context = await environment({ T: identityToken });
    const error = await workloadKey({ token_endpoint: server.url, audience: "a", token_env: "T" }, context)().catch(
      (e) => e,
    );
    expect(error).toMatchObject({ exit: "auth" });
    expect(error.message).toContain(message);
    expect(error.message).not.toContain(identityToken);
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ["no token at all", {}, "there is no identity token here"],
    ["an empty variable", { token_env: "EMPTY" }, "The variable EMPTY holds no identity token"],
    ["a missing file", { token_file: "/nowhere/at/all" }, "/nowhere/at/all cannot be read"],
  ])("%s is named", async (_, where, message) => {
    const context = await environment();
    const identity = { token_endpoint: "http://127.0.0.1:9/", audience: "a", ...where };
    await expect(workloadKey(identity, context)()).rejects.toThrow(message);
  });

  test("a token goes nowhere without encryption, except on this machine", () => {
    expect(endpointUrl("https://sts.example.com/t", "x").host).toBe("sts.example.com");
    expect(endpointUrl("http://localhost:8080/t", "x").port).toBe("8080");
    expect(() => endpointUrl("http://sts.example.com/t", "auth.x")).toThrow('auth.x is "http://sts.example.com/t"');
    expect(() => endpointUrl("", "auth.x")).toThrow("not an https address");
  });
});

describe("a managed account", () => {
  const saved = (home: string) => JSON.parse(readFileSync(join(home, "auth.json"), "utf8"));

  async function account(expiresInSeconds: number) {
    const context = await environment();
    const tokens = { access_token: jwt(expiresInSeconds, "old"), refresh_token: "refresh-0", account_id: "acc" };
    writeAuthFile(context.agentHome, { auth_mode: "account", AGENT_API_KEY: null, tokens, custom: 1 });
    return { context, tokens };
  }

  test("a token that holds is used without a request", async () => {
    const { context, tokens } = await account(3_600);
    const source = accountKey(tokens, { refresh_endpoint: "http://127.0.0.1:9/" }, context);
    expect(await source()).toBe(tokens.access_token);
  });

  test("an expired one is renewed, and what else is in the file stays", async () => {
    const fresh = jwt(3_600, "new");
    const server = await startTokenServer(() => ({ body: { access_token: fresh, refresh_token: "refresh-1" } }));
    const { context, tokens } = await account(-10);
    const source = accountKey(tokens, { refresh_endpoint: server.url, client_id: "cli" }, context);
    expect(await source()).toBe(fresh);
    expect(server.requests[0]?.form).toEqual({
      grant_type: "refresh_token",
      refresh_token: "refresh-0",
      client_id: "cli",
    });
    expect(saved(context.agentHome)).toMatchObject({
      auth_mode: "account",
      custom: 1,
      tokens: { access_token: fresh, refresh_token: "refresh-1", account_id: "acc" },
    });
    expect(Date.parse(saved(context.agentHome).last_refresh)).toBeGreaterThan(Date.now() - 60_000);
  });

  test("of several runs at once one renews and the others take what it saved", async () => {
    const fresh = jwt(3_600, "new");
    const server = await startTokenServer(({ form }, index) =>
      index === 0 && form.refresh_token === "refresh-0"
        ? { body: { access_token: fresh, refresh_token: "refresh-1" } }
        : { status: 400, body: { error: "invalid_grant" } },
    );
    const { context, tokens } = await account(-10);
    const sources = Array.from({ length: 8 }, () => accountKey(tokens, { refresh_endpoint: server.url }, context));
    const keys = await Promise.all(sources.map((source) => source()));
    expect(new Set(keys)).toEqual(new Set([fresh]));
    expect(server.requests).toHaveLength(1);
  });

  test("a refusal names the endpoint's reason, keeps the file and shows no token", async () => {
    const server = await startTokenServer(() => ({ status: 400, body: { error: "refresh-0 is revoked" } }));
    const { context, tokens } = await account(-10);
    const before = saved(context.agentHome);
    const error = await accountKey(tokens, { refresh_endpoint: server.url }, context)().catch((thrown) => thrown);
    expect(error).toMatchObject({ exit: "auth" });
    expect(error.message).toContain("[REDACTED] is revoked");
    expect(saved(context.agentHome)).toEqual(before);
  });

  test("one that the model server refused is renewed before its end", async () => {
    const fresh = jwt(3_600, "new");
    const server = await startTokenServer(() => ({ body: { access_token: fresh } }));
    const { context, tokens } = await account(3_600);
    const source = accountKey(tokens, { refresh_endpoint: server.url }, context);
    expect(await source(tokens.access_token)).toBe(fresh);
    expect(saved(context.agentHome).tokens.refresh_token).toBe("refresh-0");
  });
});
