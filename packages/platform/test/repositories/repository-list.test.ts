// `GET /v1/repositories`: repositories of the embedded host and of a connected GitHub, for users and service accounts.
import { type FakeGithub, startGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, expect, test } from "vitest";
import { saveAccount } from "../../src/repositories/accounts/store.ts";
import { command } from "../harness/command.ts";
import { type TestServer, testServer } from "../harness/platform.ts";
import { noRateLimits } from "../harness/settings.ts";
import { githubSettings } from "./github-settings.ts";

let fake: FakeGithub;
let server: TestServer;

beforeAll(async () => {
  fake = await startGithub();
  for (const name of ["acme/shop", "acme/blog", "other/tool", "acme/payroll"])
    await fake.addRepository(name, { collaborators: name === "acme/blog" ? ["bob"] : ["ada"] });
  const client = { id: fake.app.client.id, secretVariable: "GITHUB_CLIENT_SECRET" };
  const host = new URL(fake.url).host;
  server = await testServer({
    roles: ["api"],
    rateLimits: { ...noRateLimits, requestsPerMinute: 1_000 },
    allowPrivate: ["127.0.0.0/8"],
    sourceHosts: {
      blocked: [`${host}/acme/payroll`],
      protected: [],
      github: { ...(await githubSettings(fake)), client },
    },
    variables: { PATH: process.env.PATH, GITHUB_CLIENT_SECRET: fake.app.client.secret },
  });
});
afterAll(async () => {
  await server.close();
  expect(fake.violations).toEqual([]);
  await fake.close();
});

const list = (key: string) => server.call(key, "GET", "/v1/repositories");
const urls = (...names: string[]) => names.map((name) => ({ url: `${fake.url}/${name}` }));

test("a service account sees what the app can access, without blocked repositories, once a minute", async () => {
  await command(server, "repos", "create", "sample");
  const key = await server.key({ owner: { kind: "service_account", name: "ci" } });
  const { status, body } = await list(key);
  expect(status).toBe(200);
  expect(body).toEqual({
    items: [{ url: expect.stringMatching(/\/git\/sample\.git$/) }, ...urls("acme/shop", "acme/blog", "other/tool")],
  });
  expect(await list(key)).toMatchObject({ status: 429 });
});

test("a user sees what they may push to with the connected account, and without one nothing of GitHub", async () => {
  const key = await server.key({ team: "users", owner: { kind: "user", email: "ada@example.com" } });
  const { id } = await server.platform.db
    .selectFrom("users")
    .select("id")
    .where("email", "=", "ada@example.com")
    .executeTakeFirstOrThrow();
  const tokens = { token: fake.addToken("ada"), expiresAt: null, refreshToken: null };
  const host = new URL(fake.url).host;
  const stranger = await server.key({ team: "users", owner: { kind: "user", email: "eve@example.com" } });
  expect((await list(stranger)).body).toEqual({ items: [] });
  await saveAccount(server.platform, { userId: id, host, accountId: "1", login: "ada", tokens });
  expect((await list(key)).body).toEqual({ items: urls("acme/shop", "other/tool") });
});

test("a GitHub that refuses is named, with its message", async () => {
  fake.planResponse({ operation: "apps/list-installations", response: { status: 401, body: { message: "Bad JWT" } } });
  const key = await server.key({ owner: { kind: "service_account", name: "other" } });
  expect(await list(key)).toMatchObject({
    status: 503,
    body: {
      error: { code: "unavailable", message: expect.stringMatching(/could not list the repositories on .*Bad JWT/) },
    },
  });
});
