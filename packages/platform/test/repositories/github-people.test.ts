// Pull requests on GitHub opened as the user of a run, from the connected account to the end of the run.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { type FakeGithub, type FakeRepository, startGithub } from "@agentcli/testkit/github";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { personOf } from "../../src/repositories/accounts/index.ts";
import {
  type ConnectedAccount,
  findAccount,
  removeAccount,
  saveAccount,
} from "../../src/repositories/accounts/store.ts";
import { type GithubAccounts, openGithub, type PersonalAccess } from "../../src/repositories/scm/index.ts";
import { never } from "./git-harness.ts";
import { githubDescription } from "./github-description.ts";
import { githubSettings } from "./github-settings.ts";
import {
  type HandoffHarness,
  type HandoffHarnessOptions,
  openHandoffHarness,
  type TestAgent,
} from "./handoff-harness.ts";

let fake: FakeGithub;
let harness: HandoffHarness;
let accounts: GithubAccounts;
let account: ConnectedAccount;
const options: HandoffHarnessOptions = { reviewers: ["ada", "bob"] };

beforeAll(async () => {
  fake = await startGithub({ description: githubDescription() });
  const client = { id: fake.app.client.id, secretVariable: "SECRET" };
  const github = openGithub({ ...(await githubSettings(fake)), client }, { SECRET: fake.app.client.secret });
  if (github.accounts === null) throw new Error("accounts cannot be connected");
  accounts = github.accounts;
  harness = await openHandoffHarness(Object.assign(options, { github }));
});
afterAll(async () => {
  await harness.close();
  expect(fake.violations).toEqual([]);
  await fake.close();
});
beforeEach(async () => {
  const user = await harness.db.selectFrom("users").select("id").executeTakeFirstOrThrow();
  const back = await fetch(accounts.authorizeUrl({ state: "s", redirectUrl: "http://127.0.0.1/" }), {
    redirect: "manual",
  });
  const code = new URL(back.headers.get("location") ?? "").searchParams.get("code") ?? "";
  const tokens = await accounts.exchange(code, never());
  account = { userId: user.id, host: accounts.host, accountId: "1", login: "ada", tokens };
  await saveAccount(harness, account);
});

let count = 0;

async function scene(): Promise<{ shop: FakeRepository; agent: TestAgent }> {
  count += 1;
  const name = `acme/people-${count}`;
  const shop = await fake.addRepository(name, { collaborators: ["ada", "bob"] });
  const agent = await harness.agent([{ url: `${fake.url}/${name}` }]);
  writeFileSync(join(agent.workspace.root, "one"), "one");
  return { shop, agent };
}

/** The run works for the user; pull requests are opened with the identity the platform would choose. */
async function finishFor(agent: TestAgent, result = "One", changes: object = {}) {
  const { runId } = await agent.end(result, { opensAsApp: false, ...changes });
  await harness.db.updateTable("runs").set({ user_id: account.userId }).where("id", "=", runId).execute();
  const url = agent.workspace.repositories[0]?.url ?? "";
  const person = await personOf({ store: harness, github: accounts }, { runId, url });
  options.person = person ?? undefined;
  return agent.again();
}

const disconnected = {
  code: "integration_not_connected",
  message: expect.stringMatching(/is no longer connected\. The branch is pushed\. Connect the account again/),
};

test("the user opens the pull request; the platform pushes and requests reviews from the others", async () => {
  const { shop, agent } = await scene();
  expect((await finishFor(agent)).faults).toEqual([]);
  expect(shop.pulls).toMatchObject([{ author: "ada", isDraft: true, requests: [["bob"]] }]);
  const branch = agent.workspace.repositories[0]?.branch ?? "";
  expect(await shop.git("log", "-1", "--format=%an <%ae>", branch)).toBe("Ada <ada@example.com>");
  writeFileSync(join(agent.workspace.root, "two"), "two");
  await finishFor(agent, "Two");
  expect(shop.pulls).toMatchObject([
    { author: "ada", body: expect.stringMatching(/^One\n\n---\n\nTwo\n\n## Verified\n/) },
  ]);
});

test("the app opens it where requested, and where the run has no user", async () => {
  const { shop, agent } = await scene();
  await finishFor(agent, "One", { opensAsApp: true });
  expect(shop.pulls).toMatchObject([{ author: "platform-app[bot]" }]);
  const runId = (await harness.db.selectFrom("runs").select("id").executeTakeFirstOrThrow()).id;
  await harness.db.updateTable("runs").set({ user_id: null }).where("id", "=", runId).execute();
  const url = `${fake.url}/acme/people-1`;
  const context = { store: harness, github: accounts };
  expect(await personOf(context, { runId, url })).toBeNull();
  expect(await personOf(context, { runId, url: "https://git.example.com/o/r" })).toBeNull();
  expect(await personOf({ ...context, github: null }, { runId, url })).toBeNull();
});

test.each([
  ["private", "ada"],
  ["team_visible", "platform-app[bot]"],
] as const)("the pull request of an automation with the scope %s is opened by %s", async (scope, author) => {
  const { shop, agent } = await scene();
  const shared = { team_id: 1, user_id: account.userId, missed: "skip", enabled: true } as const;
  const automation = { ...shared, id: `auto-${scope}`, name: scope, scope, definition: Buffer.from("") };
  await harness.db.insertInto("automations").values(automation).execute();
  const started = { source: "manual", status: "started", planned_at: new Date(), trigger_id: null } as const;
  const firing = { ...started, id: `fire-${scope}`, automation_id: automation.id, agent_id: agent.id };
  await harness.db.insertInto("automation_firings").values(firing).execute();
  await finishFor(agent);
  expect(shop.pulls).toMatchObject([{ author }]);
  const { id: runId } = await harness.db
    .selectFrom("runs")
    .select("id")
    .where("agent_id", "=", agent.id)
    .executeTakeFirstOrThrow();
  const url = agent.workspace.repositories[0]?.url ?? "";
  const isOfPerson = async () => (await personOf({ store: harness, github: accounts }, { runId, url })) !== null;
  await harness.db.deleteFrom("automation_firings").where("id", "=", firing.id).execute();
  await harness.db
    .insertInto("automation_agents")
    .values({ agent_id: agent.id, automation_id: automation.id, firing_id: firing.id, planned_at: firing.planned_at })
    .execute();
  expect(await isOfPerson()).toBe(scope === "private");
});

test.each<[string, string]>([
  ["ada", "platform-app[bot]"],
  ["platform-app[bot]", "ada"],
])("after a crash the pull request opened by %s is found by %s", async (first) => {
  const { shop, agent } = await scene();
  const opensAsApp = first !== "ada";
  await finishFor(agent, "One", { opensAsApp });
  expect(shop.pulls).toMatchObject([{ author: first }]);
  await sql`update handoffs set state = 'pushed', pr_url = null where agent_id = ${agent.id}`.execute(harness.db);
  options.person = opensAsApp ? await personOfLast(agent) : undefined;
  expect(await agent.again()).toMatchObject({ branches: [{ prUrl: expect.stringMatching(/\/pull\/1$/) }], faults: [] });
  expect(shop.pulls).toHaveLength(1);
});

async function personOfLast(agent: TestAgent): Promise<PersonalAccess | undefined> {
  const query = harness.db.selectFrom("agents").select("latest_run_id").where("id", "=", agent.id);
  const runId = (await query.executeTakeFirstOrThrow()).latest_run_id ?? "";
  const url = agent.workspace.repositories[0]?.url ?? "";
  return (await personOf({ store: harness, github: accounts }, { runId, url })) ?? undefined;
}

test("an expired token is refreshed during the hand-off", async () => {
  const { shop, agent } = await scene();
  await saveAccount(harness, { ...account, tokens: { ...account.tokens, expiresAt: Date.now() } });
  expect((await finishFor(agent)).faults).toEqual([]);
  expect(shop.pulls).toMatchObject([{ author: "ada" }]);
  expect((await findAccount(harness, account))?.tokens.token).not.toBe(account.tokens.token);
});

test("a revoked token fails with a clear error; the branch stays, and a follow-up opens the pull request", async () => {
  const { shop, agent } = await scene();
  for (const grant of fake.grants.filter(({ login }) => login === "ada")) grant.isRevoked = true;
  const { faults, branches } = await finishFor(agent);
  expect(faults).toMatchObject([disconnected]);
  expect(inspect(faults, { depth: null })).not.toContain(account.tokens.token);
  expect(await shop.git("log", "-1", "--format=%s", branches[0]?.branch ?? "none")).toBe("One");
  expect(shop.pulls).toEqual([]);
  const good = fake.addToken("ada");
  await saveAccount(harness, { ...account, tokens: { token: good, expiresAt: null, refreshToken: null } });
  expect((await agent.again()).faults).toEqual([]);
  expect(shop.pulls).toMatchObject([{ author: "ada" }]);
});

test("an account disconnected during the run fails the same way", async () => {
  const { shop, agent } = await scene();
  await removeAccount(harness.db, account);
  expect((await finishFor(agent)).faults).toMatchObject([disconnected]);
  expect(shop.pulls).toEqual([]);
});

test("a user who may no longer push gets an error, and the branch stays", async () => {
  const { shop, agent } = await scene();
  shop.collaborators.splice(0, 1);
  const { faults, branches } = await finishFor(agent);
  expect(faults).toMatchObject([
    { code: "pull_request_failed", message: expect.stringMatching(/in your name .*Not Found\. Check the address/) },
  ]);
  expect(branches).toMatchObject([{ branch: agent.workspace.repositories[0]?.branch }]);
});

test("user tokens reach no git process, no request log and no database row", async () => {
  const { shop, agent } = await scene();
  await finishFor(agent);
  const { token, refreshToken } = account.tokens;
  expect(await shop.git("config", "--list")).not.toContain(token);
  const { rows } = await sql<{ row: string }>`
    select to_jsonb(source_accounts)::text || encode(token, 'escape') as row from source_accounts
  `.execute(harness.db);
  for (const { row } of rows) for (const secret of [token, refreshToken ?? "?"]) expect(row).not.toContain(secret);
});
