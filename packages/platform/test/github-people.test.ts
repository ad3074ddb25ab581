// Pull requests on GitHub in the name of the person a run works for, from a connected account to the end of the run.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { type FakeGithub, type FakeRepository, startGithub } from "@agentcli/testkit/github";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { personOf } from "../src/accounts/index.ts";
import { type ConnectedAccount, findAccount, keepAccount, removeAccount } from "../src/accounts/store.ts";
import { type GithubAccounts, openGithub, type PersonalAccess } from "../src/scm/index.ts";
import { never } from "./git-bench.ts";
import { githubDescription } from "./github-description.ts";
import { githubSettings } from "./github-settings.ts";
import { type HandoffBench, type HandoffBenchOptions, handoffBench, type TestAgent } from "./handoff-bench.ts";

let fake: FakeGithub;
let bench: HandoffBench;
let accounts: GithubAccounts;
let account: ConnectedAccount;
const options: HandoffBenchOptions = { reviewers: ["ada", "bob"] };

beforeAll(async () => {
  fake = await startGithub({ description: githubDescription() });
  const client = { id: fake.app.client.id, secretVariable: "SECRET" };
  const github = openGithub({ ...(await githubSettings(fake)), client }, { SECRET: fake.app.client.secret });
  if (github.accounts === null) throw new Error("nobody can connect");
  accounts = github.accounts;
  bench = await handoffBench(Object.assign(options, { github }));
}, 120_000);
afterAll(async () => {
  await bench.close();
  expect(fake.complaints).toEqual([]);
  await fake.close();
});
beforeEach(async () => {
  const user = await bench.db.selectFrom("users").select("id").executeTakeFirstOrThrow();
  const back = await fetch(accounts.authorizeUrl({ state: "s", redirectUrl: "http://127.0.0.1/" }), {
    redirect: "manual",
  });
  const code = new URL(back.headers.get("location") ?? "").searchParams.get("code") ?? "";
  const tokens = await accounts.exchange(code, never());
  account = { userId: user.id, host: accounts.host, accountId: "1", login: "ada", tokens };
  await keepAccount(bench, account);
});

let count = 0;

async function scene(): Promise<{ shop: FakeRepository; agent: TestAgent }> {
  count += 1;
  const name = `acme/people-${count}`;
  const shop = await fake.addRepository(name, { collaborators: ["ada", "bob"] });
  const agent = await bench.agent([{ url: `${fake.url}/${name}` }]);
  writeFileSync(join(agent.workspace.root, "one"), "one");
  return { shop, agent };
}

/** The run works for the user, and pull requests are opened in whose name the platform would. */
async function finishFor(agent: TestAgent, result = "One", changes: object = {}) {
  const { runId } = await agent.end(result, { opensAsApp: false, ...changes });
  await bench.db.updateTable("runs").set({ user_id: account.userId }).where("id", "=", runId).execute();
  const url = agent.workspace.repositories[0]?.url ?? "";
  const person = await personOf({ store: bench, github: accounts }, { runId, url });
  options.person = person ?? undefined;
  return agent.again();
}

const disconnected = {
  code: "integration_not_connected",
  message: expect.stringMatching(/is not connected any more\. The branch is pushed\. Connect the account again/),
};

test("the person opens it, the platform pushes and asks the others for reviews", async () => {
  const { shop, agent } = await scene();
  expect((await finishFor(agent)).faults).toEqual([]);
  expect(shop.pulls).toMatchObject([{ author: "ada", isDraft: true, requests: [["bob"]] }]);
  const branch = agent.workspace.repositories[0]?.branch ?? "";
  expect(await shop.git("log", "-1", "--format=%an <%ae>", branch)).toBe("Ada <ada@example.com>");
  writeFileSync(join(agent.workspace.root, "two"), "two");
  await finishFor(agent, "Two");
  expect(shop.pulls).toMatchObject([{ author: "ada", body: "One\n\n---\n\nTwo" }]);
});

test("as the app where that is wished, and where the run works for nobody", async () => {
  const { shop, agent } = await scene();
  await finishFor(agent, "One", { opensAsApp: true });
  expect(shop.pulls).toMatchObject([{ author: "platform-app[bot]" }]);
  const runId = (await bench.db.selectFrom("runs").select("id").executeTakeFirstOrThrow()).id;
  await bench.db.updateTable("runs").set({ user_id: null }).where("id", "=", runId).execute();
  const url = `${fake.url}/acme/people-1`;
  const whose = { store: bench, github: accounts };
  expect(await personOf(whose, { runId, url })).toBeNull();
  expect(await personOf(whose, { runId, url: "https://git.example.com/o/r" })).toBeNull();
  expect(await personOf({ ...whose, github: null }, { runId, url })).toBeNull();
});

test.each<[string, string]>([
  ["ada", "platform-app[bot]"],
  ["platform-app[bot]", "ada"],
])("after a crash the one that %s opened is found by %s", async (first) => {
  const { shop, agent } = await scene();
  const opensAsApp = first !== "ada";
  await finishFor(agent, "One", { opensAsApp });
  expect(shop.pulls).toMatchObject([{ author: first }]);
  await sql`update handoffs set state = 'pushed', pr_url = null where agent_id = ${agent.id}`.execute(bench.db);
  options.person = opensAsApp ? await personOfLast(agent) : undefined;
  expect(await agent.again()).toMatchObject({ branches: [{ prUrl: expect.stringMatching(/\/pull\/1$/) }], faults: [] });
  expect(shop.pulls).toHaveLength(1);
});

async function personOfLast(agent: TestAgent): Promise<PersonalAccess | undefined> {
  const query = bench.db.selectFrom("agents").select("latest_run_id").where("id", "=", agent.id);
  const runId = (await query.executeTakeFirstOrThrow()).latest_run_id ?? "";
  const url = agent.workspace.repositories[0]?.url ?? "";
  return (await personOf({ store: bench, github: accounts }, { runId, url })) ?? undefined;
}

test("a token that has ended is renewed on the way", async () => {
  const { shop, agent } = await scene();
  await keepAccount(bench, { ...account, tokens: { ...account.tokens, expiresAt: Date.now() } });
  expect((await finishFor(agent)).faults).toEqual([]);
  expect(shop.pulls).toMatchObject([{ author: "ada" }]);
  expect((await findAccount(bench, account))?.tokens.token).not.toBe(account.tokens.token);
});

test("one that was taken back ends in a clear fault; the branch stays, and a follow-up opens the pull request", async () => {
  const { shop, agent } = await scene();
  for (const grant of fake.grants.filter(({ login }) => login === "ada")) grant.isRevoked = true;
  const { faults, branches } = await finishFor(agent);
  expect(faults).toMatchObject([disconnected]);
  expect(inspect(faults, { depth: null })).not.toContain(account.tokens.token);
  expect(await shop.git("log", "-1", "--format=%s", branches[0]?.branch ?? "none")).toBe("One");
  expect(shop.pulls).toEqual([]);
  const good = fake.addToken("ada");
  await keepAccount(bench, { ...account, tokens: { token: good, expiresAt: null, refreshToken: null } });
  expect((await agent.again()).faults).toEqual([]);
  expect(shop.pulls).toMatchObject([{ author: "ada" }]);
});

test("so does an account that was disconnected while the agent worked", async () => {
  const { shop, agent } = await scene();
  await removeAccount(bench.db, account);
  expect((await finishFor(agent)).faults).toMatchObject([disconnected]);
  expect(shop.pulls).toEqual([]);
});

test("a person who may push no longer is told so, and the branch stays", async () => {
  const { shop, agent } = await scene();
  shop.collaborators.splice(0, 1);
  const { faults, branches } = await finishFor(agent);
  expect(faults).toMatchObject([
    { code: "pull_request_failed", message: expect.stringMatching(/in your name .*Not Found\. Check the address/) },
  ]);
  expect(branches).toMatchObject([{ branch: agent.workspace.repositories[0]?.branch }]);
});

test("tokens of persons come near no git, no log of requests and no row", async () => {
  const { shop, agent } = await scene();
  await finishFor(agent);
  const { token, refreshToken } = account.tokens;
  expect(await shop.git("config", "--list")).not.toContain(token);
  const { rows } = await sql<{ row: string }>`
    select to_jsonb(source_accounts)::text || encode(token, 'escape') as row from source_accounts
  `.execute(bench.db);
  for (const { row } of rows) for (const secret of [token, refreshToken ?? "?"]) expect(row).not.toContain(secret);
});
