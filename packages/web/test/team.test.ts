// What a team and its members manage in the browser: keys, service accounts, settings.
import { afterAll, beforeAll, expect, test } from "vitest";
import { loginLink } from "../../platform/src/pages/index.ts";
import { type TestServer, testServer } from "../../platform/test/harness/platform.ts";
import { startChromium, visit } from "./chromium.ts";

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
