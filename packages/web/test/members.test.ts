// Administrators invite people, change their roles and remove them.
import { expect, test } from "vitest";
import { loginLink } from "../../platform/src/pages/index.ts";
import { openRunHarness } from "../../platform/test/runs/run-harness.ts";
import { startChromium, visit } from "./chromium.ts";

startChromium();

test("an administrator invites a person, who joins, becomes an administrator and is removed", async () => {
  const { fixture, client } = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  const { page } = await visit(await loginLink(fixture.platform, client.url));
  await page.goto(`${client.url}/members`);
  await page.getByLabel("E-mail address").fill("new@example.com");
  await page.getByRole("button", { name: "Invite" }).click();
  const invitation = page.locator("[data-link='new@example.com']");
  await invitation.getByText("Invitation for new@example.com").waitFor();
  await page.locator("[data-invitation='new@example.com']").getByText("Member").waitFor();

  const link = await invitation.getByLabel("Link").inputValue();
  const { page: theirs } = await visit(link);
  await theirs.goto(`${client.url}/members`);
  await theirs.locator("[data-member='new@example.com']").getByText("(you)").waitFor();

  await page.reload();
  expect(await page.locator("[data-link]").count()).toBe(0);
  const row = page.locator("[data-member='new@example.com']");
  await row.getByRole("button", { name: "Make administrator" }).click();
  await row.getByRole("button", { name: "Make member" }).waitFor();
  await theirs.reload();
  await theirs.getByRole("button", { name: "Invite" }).waitFor();

  await row.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await row.waitFor({ state: "detached" });
  await theirs.reload();
  await theirs.getByRole("heading", { name: "Log in" }).waitFor();

  await page.getByLabel("E-mail address").fill("late@example.com");
  await page.getByRole("button", { name: "Invite" }).click();
  const open = page.locator("[data-invitation='late@example.com']");
  await open.getByRole("button", { name: "Revoke" }).click();
  const question = page.getByRole("dialog", { name: "Revoke the invitation of late@example.com?" });
  await question.getByRole("button", { name: "Revoke" }).click();
  await open.waitFor({ state: "detached" });
});

test("the only administrator cannot become a member, and the page says why", async () => {
  const { fixture, client } = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  const { page } = await visit(await loginLink(fixture.platform, client.url));
  await page.goto(`${client.url}/members`);
  await page.getByRole("button", { name: "Make member" }).click();
  await page.getByRole("alert").getByText("Appoint another one first").waitFor();
});
