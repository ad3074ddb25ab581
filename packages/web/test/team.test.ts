// What a team and its members manage in the browser: keys, service accounts, settings, repositories, accounts, workers.
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loginLink } from "../../platform/src/pages/index.ts";
import { type TestServer, testServer } from "../../platform/test/harness/platform.ts";
import { expectNoOverflow, type PageVisitor, photograph, startChromium, tabTo, visit } from "./chromium.ts";

startChromium();

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ roles: ["api"] });
  await server.key();
});
afterAll(() => server.close());

const statusOf = async (key: string) => (await server.call(key, "GET", "/v1/me")).status;
const idOf = (key: string): string => key.split("_")[1] ?? "";

test("a key is created, shown this once, rotated by keyboard and revoked", async () => {
  const { page, complaints, findBarriers } = await visit(await loginLink(server.platform, server.url));
  await page.goto(`${server.url}/keys`);
  await page.getByLabel("Name of the key").fill("laptop");
  await page.keyboard.press("Enter");
  const shown = page.locator("[data-shown-key='laptop']");
  const first = await shown.getByLabel("Key", { exact: true }).inputValue();
  expect(await statusOf(first)).toBe(200);
  expect(await findBarriers()).toEqual([]);

  await page.reload();
  const row = page.locator(`[data-key='${idOf(first)}']`);
  await row.waitFor();
  expect(await shown.count()).toBe(0);
  await row.getByRole("button", { name: "Rotate" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByRole("combobox").selectOption("0");
  expect(await findBarriers()).toEqual([]);
  await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).press("Enter");
  const second = await shown.getByLabel("Key", { exact: true }).inputValue();
  expect(second).not.toBe(first);
  await expect.poll(() => statusOf(first)).toBe(401);
  expect(await statusOf(second)).toBe(200);

  const successor = page.locator(`[data-key='${idOf(second)}']`);
  await successor.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await successor.locator("td[data-label='Expires']", { hasText: "Revoked" }).waitFor();
  await expect.poll(() => statusOf(second)).toBe(401);
  expect(complaints).toEqual([]);
});

test("sessions are ended by keyboard, one and then all others; a refusal keeps the list and says why", async () => {
  const link = () => loginLink(server.platform, server.url);
  const [first, ...others] = [await visit(await link()), await visit(await link()), await visit(await link())];
  const last = await visit(await link());
  const { page, complaints, findBarriers } = last;
  await tabTo(page, page.getByTitle(/^Your sessions/));
  await page.keyboard.press("Enter");
  await page.waitForURL("**/sessions");
  const ends = page.getByRole("button", { name: "End", exact: true });
  await expect.poll(() => ends.count()).toBeGreaterThan(2);
  expect(await page.getByText("This browser").count()).toBe(1);
  expect(await findBarriers()).toEqual([]);
  const count = await ends.count();
  const isLoggedIn = async ({ page: other }: PageVisitor) =>
    (await other.request.get(`${server.url}/v1/me`)).status() === 200;

  await page.route("**/v1/me/sessions/*", (route) =>
    route.fulfill({
      status: 503,
      json: { error: { code: "unavailable", message: "The database cannot be reached." } },
    }),
  );
  const confirm = async (button: Locator, name: string) => {
    await tabTo(page, button);
    await page.keyboard.press("Enter");
    await tabTo(page, page.getByRole("dialog").getByRole("button", { name }));
    await page.keyboard.press("Enter");
  };
  await confirm(ends.first(), "End");
  await page.getByText("The database cannot be reached.").waitFor();
  expect(await ends.count()).toBe(count);
  await page.unroute("**/v1/me/sessions/*");

  // The newest of the others: it was used last.
  await confirm(ends.first(), "End");
  await expect.poll(() => ends.count()).toBe(count - 1);
  await expect.poll(async () => (await Promise.all([first, ...others].map(isLoggedIn))).filter(Boolean).length).toBe(2);
  await photograph(page, "sessions");
  await confirm(page.getByRole("button", { name: "End all others" }), "End all others");
  await expect.poll(() => ends.count()).toBe(0);
  expect(await Promise.all([first, ...others, last].map(isLoggedIn))).toEqual([false, false, false, true]);
  await page.setViewportSize({ width: 390, height: 800 });
  await expectNoOverflow(page);
  expect(complaints).toEqual([]);
});

test("an administrator creates a service account with a key; a name that is taken is refused with the reason", async () => {
  const { page } = await visit(await loginLink(server.platform, server.url));
  await page.goto(`${server.url}/service-accounts`);
  await page.getByRole("heading", { name: "No service accounts yet" }).waitFor();
  const name = page.getByLabel("Name of the service account");
  const create = page.getByRole("button", { name: "Create service account" });
  await name.fill("ci");
  await create.click();
  const account = page.locator("[data-account='ci']");
  await account.getByText("New key").click();
  await account.getByLabel("Name of the key").fill("pipeline");
  await account.getByRole("button", { name: "Create key" }).click();
  const key = await page.locator("[data-shown-key='pipeline']").getByLabel("Key", { exact: true }).inputValue();
  await account.locator(`[data-key='${idOf(key)}']`).waitFor();
  expect(await server.platform.principals.authenticate(`Bearer ${key}`)).toMatchObject({
    principal: { kind: "service_account", name: "ci" },
  });
  await name.fill("ci");
  await create.click();
  await page.getByRole("alert").getByText("Service account ci already exists").waitFor();
});

test("an administrator changes settings of the team; members see them without a button", async () => {
  const { page, complaints, findBarriers } = await visit(await loginLink(server.platform, server.url));
  await page.goto(`${server.url}/settings`);
  const team = page.getByRole("form", { name: "Team default" });
  await team.getByRole("combobox", { name: "Who may send follow-ups" }).selectOption("all");
  await team.getByRole("combobox", { name: "How long agents are kept" }).selectOption("90_days");
  await team.getByRole("combobox", { name: "Network of agents" }).selectOption("allowlist_only");
  await team.getByRole("textbox", { name: "Listed hosts" }).fill("exa mple/x");
  await team.getByRole("button", { name: "Save" }).click();
  await team.getByRole("alert").getByText("egress.allowlist").waitFor();
  await team.getByRole("textbox", { name: "Listed hosts" }).fill("*.example.com\nregistry.example.org:8443");
  await team.getByRole("button", { name: "Save" }).click();
  await team.getByText("Saved.").waitFor();
  expect(await findBarriers()).toEqual([]);
  expect((await server.call(await server.key(), "GET", "/v1/team/settings")).body).toMatchObject({
    followUps: "all",
    retention: "90_days",
    egress: { mode: "allowlist_only", allowlist: ["*.example.com", "registry.example.org:8443"], locked: false },
  });

  const own = page.getByRole("form", { name: "Your agents" });
  await own.getByRole("combobox", { name: "Failed checks" }).selectOption("off");
  await own.getByRole("button", { name: "Save" }).click();
  await own.getByText("Saved.").waitFor();
  await page.reload();
  await expect.poll(() => own.getByRole("combobox", { name: "Failed checks" }).inputValue()).toBe("off");

  await server.key({ owner: { kind: "user", email: "bob@x" } });
  const { page: theirs } = await visit(await loginLink(server.platform, server.url, "bob@x"));
  await theirs.goto(`${server.url}/settings`);
  const seen = theirs.getByRole("form", { name: "Team default" });
  await expect.poll(() => seen.getByRole("combobox", { name: "Who may send follow-ups" }).inputValue()).toBe("all");
  expect(await seen.getByRole("combobox", { name: "Who may send follow-ups" }).isDisabled()).toBe(true);
  expect(await seen.getByRole("button").count()).toBe(0);
  expect(await theirs.getByRole("heading", { name: "Credentials for git hosts" }).count()).toBe(0);
  expect(complaints).toEqual([]);
});

test("administrators of a team with agents are asked for a spend limit until one of them says how much, or that there is none", async () => {
  const create = { prompt: { text: "What can you do?" } };
  expect((await server.call(await server.key(), "POST", "/v1/agents", create)).status).toBe(200);
  const question = "How much may the team spend in a month?";
  const open = async (email?: string) => {
    const visitor = await visit(await loginLink(server.platform, server.url, email));
    await visitor.page.goto(`${server.url}/agents`);
    await visitor.page.locator(".group").first().waitFor();
    return visitor;
  };
  const limit = async () => {
    const { body } = await server.call(await server.key(), "GET", "/v1/team/settings");
    return (body as { spendLimit: unknown }).spendLimit;
  };
  const { page, complaints, findBarriers } = await open();
  await page.getByRole("heading", { name: question }).waitFor();
  expect(await page.getByLabel("US dollars a month").inputValue()).toBe("100");
  expect(await findBarriers()).toEqual([]);
  expect(await limit()).toBeNull();
  await server.key({ owner: { kind: "user", email: "bob@x" } });
  const { page: theirs } = await open("bob@x");
  expect(await theirs.getByRole("heading", { name: question }).count()).toBe(0);

  await tabTo(page, page.getByRole("button", { name: "No limit" }));
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: question }).waitFor({ state: "detached" });
  expect(await limit()).toEqual({ monthlyUsd: null });
  await page.goto(`${server.url}/settings`);
  const team = page.getByRole("form", { name: "Team default" });
  await team.getByLabel("Spend limit in US dollars a month").fill("12.5");
  await team.getByRole("button", { name: "Save" }).click();
  await team.getByText("Saved.").waitFor();
  expect(await limit()).toEqual({ monthlyUsd: 12.5 });
  expect(complaints).toEqual([]);
});

test("a credential for a git host is set, never shown again, and removed", async () => {
  const { page } = await visit(await loginLink(server.platform, server.url));
  await page.goto(`${server.url}/settings`);
  const form = page.getByRole("form", { name: "Set a credential" });
  await form.getByRole("textbox", { name: "Host" }).fill("git.example.com/o");
  await form.locator("input[type=password]").fill("a-token-typed-in");
  await form.getByRole("button", { name: "Set credential" }).click();
  await form.getByRole("alert").waitFor();
  await form.getByRole("textbox", { name: "Host" }).fill("git.example.com");
  await form.getByRole("button", { name: "Set credential" }).click();
  const row = page.locator("[data-credential='git.example.com']");
  await row.getByText("Token (https)").waitFor();
  expect(await page.content()).not.toContain("a-token-typed-in");
  await row.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await row.waitFor({ state: "detached" });
});

test("a repository is created and listed; a name that is taken or invalid is refused with the reason", async () => {
  const { page, findBarriers } = await visit(await loginLink(server.platform, server.url));
  await page.goto(`${server.url}/repositories`);
  await page.getByRole("heading", { name: "No repositories yet" }).waitFor();
  const form = page.getByRole("form", { name: "New repository" });
  const create = async (name: string) => {
    await form.getByLabel("Name of the repository").fill(name);
    await form.getByRole("button", { name: "Create repository" }).click();
  };
  await create("shop");
  const row = page.locator("[data-repository='shop']");
  await row.getByText(`git clone ${server.url}/git/shop.git`).waitFor();
  expect(await findBarriers()).toEqual([]);
  await create("shop");
  await form.getByRole("alert").getByText("already exists").waitFor();
  await create("../shop");
  await form.getByRole("alert").getByText("cannot be the name").waitFor();
  // j moves to it, Enter opens its pull requests.
  await page.getByRole("heading", { name: "Repositories" }).click();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/repositories/shop");
});

test("an account on a source host is disconnected after a question", async () => {
  const { id } = await server.platform.db.selectFrom("users").select("id").orderBy("id").executeTakeFirstOrThrow();
  const account = { user_id: id, host: "git.example.com", account_id: "1", login: "ada", token: null };
  await server.platform.db.insertInto("source_accounts").values(account).execute();
  const { page } = await visit(await loginLink(server.platform, server.url));
  await page.goto(`${server.url}/accounts`);
  const row = page.locator("[data-account-host='git.example.com']");
  await row.getByRole("button", { name: "Disconnect" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Keep" }).click();
  await row.getByRole("button", { name: "Disconnect" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
  await page.getByRole("heading", { name: "No accounts connected" }).waitFor();
  expect(await server.platform.db.selectFrom("source_accounts").select("host").execute()).toEqual([]);
});

test("members see workers of pools and their own machines; administrators those of others too", async () => {
  const { db } = server.platform;
  await server.key({ owner: { kind: "user", email: "bob@x" } });
  const users = await db.selectFrom("users").select(["id", "team_id"]).orderBy("id").execute();
  const { id: adminId, team_id } = users[0] ?? expect.fail("no user");
  const at = new Date();
  // So that it counts as connected however slow the machine is.
  const seenAt = new Date(at.getTime() + 3_600_000);
  const machine = (id: string, owner: { user_id: number | null; pool: string | null }) => ({
    ...{ id, name: id, team_id, service_account_id: null, labels: "{}", root_path: "/", repo_url: null, ...owner },
    ...{ version: "1.0.0", session: "s", node_id: "n", connected_at: at, last_seen_at: seenAt },
  });
  await db
    .insertInto("workers")
    .values([machine("laptop", { user_id: adminId, pool: null }), machine("runner-1", { user_id: null, pool: "fast" })])
    .execute();
  const shown = async (email: string) => {
    const { page, findBarriers } = await visit(await loginLink(server.platform, server.url, email));
    await page.goto(`${server.url}/workers`);
    await page.locator("[data-worker='runner-1']").waitFor();
    expect(await findBarriers()).toEqual([]);
    return page.locator("[data-worker] td:first-child").allTextContents();
  };
  expect(await shown("admin@localhost")).toEqual(["laptop (yours)", "runner-1 "]);
  expect(await shown("bob@x")).toEqual(["runner-1 "]);
});

test("the form of a new agent begins with what the visitor has set, else the team, and sends what was chosen", async () => {
  const { page, complaints, findBarriers } = await visit(await loginLink(server.platform, server.url));
  const key = await server.key();
  const environment = { owner: "team", name: "staging", repos: [], environmentJson: "{}" };
  expect((await server.call(key, "POST", "/v1/environments", environment)).status).toBe(201);
  await page.goto(`${server.url}/settings`);
  const team = page.getByRole("form", { name: "Team default" });
  await team.getByLabel("New agents begin with").selectOption("environment");
  await team.getByRole("combobox", { name: /^Environment/ }).selectOption("staging");
  await team.getByRole("button", { name: "Save" }).click();
  await team.getByText("Saved.").waitFor();

  await page.goto(`${server.url}/agents/new`);
  const chosen = page.getByRole("combobox", { name: /^Environment/ });
  await expect.poll(() => chosen.inputValue()).toBe("staging");
  expect(await page.getByRole("combobox", { name: /^Repository/ }).count()).toBe(0);

  await page.goto(`${server.url}/settings`);
  const own = page.getByRole("form", { name: "Your agents" });
  await own.getByLabel("New agents begin with").selectOption("repository");
  await own.getByRole("combobox", { name: /^Repository/ }).fill("https://host.example/shop");
  await own.getByLabel("Branch").fill("next");
  await own.getByLabel("Default model").selectOption("practice");
  await own.getByRole("button", { name: "Save" }).click();
  await own.getByText("Saved.").waitFor();
  expect(await findBarriers()).toEqual([]);

  await page.goto(`${server.url}/agents/new`);
  await expect
    .poll(() => page.getByRole("combobox", { name: /^Repository/ }).inputValue())
    .toBe("https://host.example/shop");
  expect(await page.getByLabel("Branch").inputValue()).toBe("next");
  expect(await page.getByRole("combobox", { name: /^Model/ }).inputValue()).toBe("practice");
  expect(await findBarriers()).toEqual([]);
  await page.getByRole("combobox", { name: /^Repository/ }).fill("https://host.example/other");
  expect(await page.getByLabel("Branch").inputValue()).toBe("");
  await page.getByRole("combobox", { name: /^Environment/ }).selectOption("staging");
  await page.getByLabel("What should it do?").fill("Look around");
  const sent = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/v1/agents"));
  await page.getByRole("button", { name: "Start agent" }).click();
  expect((await sent).postDataJSON()).toMatchObject({ env: { type: "cloud", name: "staging" } });
  expect((await sent).postDataJSON()).not.toHaveProperty("repos");
  expect(complaints).toEqual([]);
});
