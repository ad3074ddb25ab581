// Complete runs on GitHub, for a user with a connected account and for a service account: authors and checks.
import type { Run } from "@agentcli/protocol/api";
import { eventually } from "@agentcli/testkit";
import { type FakeGithub, type FakeRepository, startGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openLog } from "../../src/foundation/telemetry/index.ts";
import { type ConnectedAccount, saveAccount } from "../../src/repositories/accounts/store.ts";
import { findLeaks } from "../harness/leaks.ts";
import { type TestServer, testServer } from "../harness/platform.ts";
import { githubSettings } from "./github-settings.ts";

let fake: FakeGithub;
let server: TestServer;
let key: string;
let account: ConnectedAccount;
const logged: string[] = [];

beforeAll(async () => {
  fake = await startGithub();
  const client = { id: fake.app.client.id, secretVariable: "GITHUB_CLIENT_SECRET" };
  const github = { ...(await githubSettings(fake)), client };
  const settings = {
    allowPrivate: ["127.0.0.0/8"],
    sourceHosts: { blocked: [], protected: [], github },
    variables: { PATH: process.env.PATH, GITHUB_CLIENT_SECRET: fake.app.client.secret },
  };
  server = await testServer(settings, openLog({ write: (line) => logged.push(line), now: () => new Date() }));
  key = await server.key();
});
afterAll(async () => {
  await server.close();
  expect(fake.violations).toEqual([]);
  await fake.close();
});
beforeEach(async () => {
  const user = await server.platform.db.selectFrom("users").select("id").executeTakeFirstOrThrow();
  const tokens = { token: fake.addToken("ada"), expiresAt: null, refreshToken: null };
  account = { userId: user.id, host: new URL(fake.url).host, accountId: "1", login: "ada", tokens };
  await saveAccount(server.platform, account);
});

let count = 0;

async function runOn(
  by: string,
  more: object = {},
  inTheMiddle = () => {},
): Promise<{ shop: FakeRepository; run: Run }> {
  count += 1;
  const shop = await fake.addRepository(`acme/run-${count}`, { collaborators: ["ada", "bob"] });
  const repos = [{ url: `${fake.url}/acme/run-${count}` }];
  const request = { prompt: { text: "run `echo new > new.txt`" }, repos, autoCreatePR: true, ...more };
  const { body } = await server.call(by, "POST", "/v1/agents", request);
  const { agent, run } = body as { agent: { id: string }; run: Run };
  const path = `/v1/agents/${agent.id}/runs/${run.id}`;
  const read = async () => (await server.call(by, "GET", path)).body as Run;
  // The repository is checked out, and the model has received a request.
  const { db } = server.platform;
  const frames = () => db.selectFrom("frames").select("seq").where("run_id", "=", run.id).execute();
  await eventually(async () => expect((await frames()).length).toBeGreaterThan(3));
  inTheMiddle();
  const ended = await eventually(async () => {
    const found = await read();
    expect(["FINISHED", "ERROR"]).toContain(found.status);
    return found;
  });
  return { shop, run: ended };
}

test("a run of a user opens the pull request as the user, and its commit gets a successful check", async () => {
  const { shop, run } = await runOn(key);
  expect(run.error).toBeUndefined();
  expect(run).toMatchObject({
    status: "FINISHED",
    git: { branches: [{ prUrl: expect.stringMatching(/\/pull\/1$/) }] },
  });
  expect(shop.pulls).toMatchObject([{ author: "ada", isDraft: true, requests: [] }]);
  await eventually(() => expect(shop.checks).toMatchObject([{ status: "completed" }]));
  expect(shop.checks).toMatchObject([
    {
      app: "platform-app[bot]",
      name: "Agent run",
      external_id: run.id,
      head_sha: await shop.git("rev-parse", shop.pulls[0]?.head ?? ""),
      details_url: `${server.url}/agents/${run.agentId}`,
      conclusion: "success",
      output: { summary: run.result },
    },
  ]);
});

test("the app opens the pull request on request, and for a service account", async () => {
  const asApp = await runOn(key, { openAsPlatformGithubApp: true });
  expect(asApp.shop.pulls).toMatchObject([{ author: "platform-app[bot]", requests: [["ada"]] }]);
  const robot = await server.key({ owner: { kind: "service_account", name: "ci" } });
  const ofRobot = await runOn(robot);
  expect(ofRobot.shop.pulls).toMatchObject([{ author: "platform-app[bot]", requests: [] }]);
});

test("a token revoked during the run gives an error with instructions and a failed check", async () => {
  const { shop, run } = await runOn(key, { prompt: { text: "run `sleep 2; echo new > new.txt`" } }, () => {
    for (const grant of fake.grants.filter(({ login }) => login === "ada")) grant.isRevoked = true;
  });
  expect(run).toMatchObject({
    status: "ERROR",
    error: { code: "integration_not_connected", message: expect.stringContaining("Connect the account again") },
    git: { branches: [{ branch: expect.any(String) }] },
  });
  expect(shop.pulls).toEqual([]);
  await eventually(() => expect(shop.checks).toMatchObject([{ conclusion: "failure" }]));
  expect(JSON.stringify(shop.checks)).not.toContain(account.tokens.token);
});

test("an invalid host response leaves no token and no text of the run in log, data or database", async () => {
  for (const operation of ["pulls/create", "checks/create"])
    fake.planResponse({ operation, response: { status: 403, body: { message: "Forbidden" } } });
  const { run } = await runOn(key);
  expect(run).toMatchObject({ status: "ERROR", error: { code: "pull_request_failed" } });
  const secrets = [
    ...fake.grants.map(({ token }) => token),
    fake.app.client.secret,
    fake.app.privateKey.slice(100, 160),
  ];
  expect(logged.length).toBeGreaterThan(0);
  expect(logged.join("")).not.toContain("new.txt");
  expect(await findLeaks(server, logged, secrets)).toEqual([]);
});
