import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rpcCodes } from "@agentcli/protocol/app-server/codes";
import { expect, test } from "vitest";
import { temporaryHome } from "../../../cli/test/session-files.ts";
import type { Host } from "../../src/method.ts";
import { openAccounts } from "../../src/methods/accounts.ts";
import { type HarnessOptions, openHarness } from "./harness.ts";

const key = "sk-test-0123456789";

async function openFixture(options: HarnessOptions = {}) {
  const home = await temporaryHome();
  let host: Host | undefined;
  const opened = await openHarness(
    (given) => {
      host = given;
      return openAccounts(given);
    },
    { home, ...options },
  );
  return { ...opened, home, auth: join(home, "auth.json"), scrub: (text: string) => host?.program.scrub(text) };
}

test("a login with a key is kept for its owner only, and every client is notified", async () => {
  const { call, auth, client, join: enter, scrub } = await openFixture();
  const other = enter();
  expect(await call("account/read", {})).toEqual({ account: null, requiresOpenaiAuth: true });
  expect(await call("account/login/start", { type: "apiKey", apiKey: `${key}\n` })).toEqual({ type: "apiKey" });
  expect(statSync(auth).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(auth, "utf8"))).toMatchObject({ auth_mode: "api_key", AGENT_API_KEY: key });
  for (const { notices } of [client, other]) {
    expect(notices).toEqual([
      { method: "account/login/completed", params: { loginId: null, success: true, error: null } },
      { method: "account/updated", params: { authMode: "apikey", planType: null } },
    ]);
  }
  expect(await call("account/read", { refreshToken: true })).toMatchObject({ account: { type: "apiKey" } });
  expect(scrub(`key ${key}`)).not.toContain(key);
});

test("an empty login, or one of an unsupported kind, changes nothing", async () => {
  const { call, auth, client } = await openFixture();
  for (const apiKey of ["", "two words"])
    await expect(call("account/login/start", { type: "apiKey", apiKey })).rejects.toMatchObject({
      code: rpcCodes.invalidRequest,
    });
  const tokens = { type: "chatgptAuthTokens", accessToken: "a", chatgptAccountId: "b" } as const;
  for (const params of [{ type: "chatgpt" }, { type: "chatgptDeviceCode" }, tokens] as const) {
    const refused = call("account/login/start", params);
    await expect(refused).rejects.toMatchObject({ code: rpcCodes.methodNotFound });
    await expect(refused).rejects.toThrow(`type ${params.type} is not supported`);
  }
  expect(await call("account/login/cancel", { loginId: "none" })).toEqual({ status: "notFound" });
  expect(existsSync(auth)).toBe(false);
  expect(client.notices).toEqual([]);
});

test("a logout removes the login, and credentials from the environment still apply", async () => {
  const { call, auth, client } = await openFixture();
  await call("account/login/start", { type: "apiKey", apiKey: key });
  expect(await call("account/logout", {})).toEqual({});
  expect(existsSync(auth)).toBe(false);
  expect(client.notices.at(-1)).toEqual({ method: "account/updated", params: { authMode: null, planType: null } });
  expect(await call("account/logout", {})).toEqual({});

  const given = await openFixture({ variables: { AGENT_API_KEY: key } });
  await given.call("account/logout", {});
  expect(given.client.notices.at(-1)?.params).toMatchObject({ authMode: "apikey" });
});

test("an account that was seeded is shown by its address, a provider without a login needs none", async () => {
  const { call, home, auth } = await openFixture();
  const claims = Buffer.from(JSON.stringify({ email: "me@example.com" })).toString("base64url");
  const seeded = { auth_mode: "account", tokens: { access_token: "token", id_token: `a.${claims}.b` } };
  writeFileSync(auth, JSON.stringify(seeded));
  expect((await call("account/read", {})).account).toMatchObject({ type: "chatgpt", email: "me@example.com" });
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.toml"), 'model = "practice"\n');
  expect((await call("account/read", {})).requiresOpenaiAuth).toBe(false);
  writeFileSync(auth, "{");
  await expect(call("account/read", {})).rejects.toThrow(`${auth} is damaged`);
});
