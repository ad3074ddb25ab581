// Small things of pages in a real browser: exact times on hover, marks of viewed files, short hashes, who disabled an automation.
import { call, replyWith } from "@agentcli/testkit";
import { openClient } from "@agentcli/testkit/platform";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { loginLink } from "../../platform/src/pages/index.ts";
import { openRunHarness } from "../../platform/test/runs/run-harness.ts";
import { expectNoOverflow, photograph, startChromium, visit } from "./chromium.ts";

startChromium();

test("times are relative to now, and on hover exact in the time zone of the browser", async () => {
  const { fixture, client } = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  const { agentId } = await client.create({ prompt: { text: "Look" } });
  const createdAt = new Date("2024-01-02T22:04:05.000Z");
  await fixture.platform.db.updateTable("agents").set({ created_at: createdAt, updated_at: createdAt }).execute();
  await fixture.platform.db.updateTable("runs").set({ created_at: createdAt }).execute();
  const link = () => loginLink(fixture.platform, client.url);
  const zones = {
    "Asia/Tokyo": "Wednesday, January 3, 2024 at 7:04:05 AM GMT+9",
    "America/Los_Angeles": "Tuesday, January 2, 2024 at 2:04:05 PM PST",
  };
  for (const [timezoneId, exact] of Object.entries(zones)) {
    const { page, complaints } = await visit(await link(), { timezoneId });
    for (const path of ["/agents", `/agents/${agentId}`]) {
      await page.goto(`${client.url}${path}`);
      const time = page.locator(`main time[datetime="${createdAt.toISOString()}"]`).first();
      await time.hover();
      expect([path, await time.getAttribute("title")]).toEqual([path, exact]);
      expect(await time.textContent()).toMatch(/^\d+y ago$/);
    }
    await page.goto(`${client.url}/agents`);
    await page.locator(".row time").click();
    await page.waitForURL(`**/agents/${agentId}`);
    for (const path of ["/sessions", "/keys", "/audit", "/usage"]) {
      await page.goto(`${client.url}${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.locator(".skeleton").first().waitFor({ state: "detached" });
      const titles = await page.locator("time").evaluateAll((times) => times.map((one) => one.getAttribute("title")));
      expect([path, titles.filter((title) => !/^\w+, \w+ \d+, \d{4} at /.test(title ?? ""))]).toEqual([path, []]);
    }
    expect(complaints).toEqual([]);
  }
});

const patchOf = (file: string, from: string, to: string) =>
  `*** Begin Patch\n*** Update File: ${file}\n@@\n-${from}\n+${to}\n*** End Patch`;

const viewedFile = (page: Page, path: string) => {
  const file = page.locator("article.file").filter({ has: page.getByText(path, { exact: true }) });
  return { mark: file.getByLabel("Viewed"), lines: file.locator("tr.diff-add") };
};

test("a file that is marked as viewed is closed, also after a reload, until the agent changes it again", async () => {
  const { fixture, client, repository } = await openRunHarness({
    replies: [
      call("apply_patch", { input: patchOf("a.txt", "old a", "new a") }),
      call("apply_patch", { input: patchOf("b.txt", "old b", "new b") }),
      replyWith("Done."),
      call("apply_patch", { input: patchOf("a.txt", "new a", "newer a") }),
      replyWith("Changed again."),
    ],
  });
  const url = await repository("notes", { "a.txt": "old a\n", "b.txt": "old b\n" });
  const { agentId, runId } = await client.create({ prompt: { text: "change both" }, repos: [{ url }] });
  await client.waitForRun({ agentId, runId });
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url));
  await page.goto(`${client.url}/agents/${agentId}/changes`);
  const [a, b] = [viewedFile(page, "a.txt"), viewedFile(page, "b.txt")];
  await a.lines.waitFor();
  await b.lines.waitFor();
  await a.mark.focus();
  await page.keyboard.press("Space");
  await b.mark.check();
  await expect.poll(() => page.locator("tr.diff-add").count()).toBe(0);
  await page.reload();
  await a.mark.waitFor();
  expect([await a.mark.isChecked(), await b.mark.isChecked()]).toEqual([true, true]);
  expect(await page.locator("tr.diff-add").count()).toBe(0);
  expect(await findBarriers()).toEqual([]);
  await photograph(page, "viewed");

  const next = await client.followUp(agentId, { prompt: { text: "change it again" } });
  await client.waitForRun({ agentId, runId: next.runId });
  await page.getByRole("button", { name: "Refresh" }).click();
  await a.lines.filter({ hasText: "newer a" }).waitFor();
  expect([await a.mark.isChecked(), await b.mark.isChecked()]).toEqual([false, true]);
  expect(await b.lines.count()).toBe(0);
  await b.mark.uncheck();
  await b.lines.filter({ hasText: "new b" }).waitFor();
  await page.reload();
  await b.lines.waitFor();
  expect(complaints).toEqual([]);
});

test("the audit log shows the beginning of a hash, the whole on hover, and copies it with a key", async () => {
  const { fixture, client } = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url));
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: client.url });
  await page.goto(`${client.url}/audit`);
  const hash = page.locator("button.hash").first();
  const whole = /^([0-9a-f]{64}): click to copy$/.exec((await hash.getAttribute("title")) ?? "")?.[1] ?? "";
  expect(await hash.textContent()).toBe(`${whole.slice(0, 12)}…`);
  expect(await page.locator("main").innerText()).not.toMatch(/[0-9a-f]{40}/);
  await hash.focus();
  await page.keyboard.press("Enter");
  await page.getByText("copied").waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(whole);
  for (const width of [390, 1440])
    for (const colorScheme of ["light", "dark"] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await expectNoOverflow(page);
      expect([width, colorScheme, await findBarriers()]).toEqual([width, colorScheme, []]);
      await photograph(page, `audit-${width}-${colorScheme}`);
    }
  expect(complaints).toEqual([]);
});

test("a disabled automation says who disabled it: you, or the person by their address", async () => {
  const { fixture, client } = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  const { principals } = fixture.platform;
  const owner = { kind: "user", email: "bob@x" } as const;
  const { key } = await principals.createKey({ name: "k", team: "default", owner, scopes: null, expiresAt: null });
  const bob = openClient(client.url, key);
  const asked = { name: "Nightly", prompt: { text: "look" }, triggers: [{ type: "webhook" }], scope: "team_visible" };
  const created = await bob.send("POST", "/v1/automations", asked);
  const { id } = JSON.parse(created.bytes.toString()) as { id: string };
  await bob.send("POST", `/v1/automations/${id}/disable`);
  const visitor = await visit(await loginLink(fixture.platform, client.url));
  await visitor.page.goto(`${client.url}/automations/${id}`);
  await visitor.page.getByText("Disabled by bob@x. It does not fire until it is enabled.").waitFor();
  const owning = await visit(await loginLink(fixture.platform, client.url, "bob@x"));
  await owning.page.goto(`${client.url}/automations/${id}`);
  await owning.page.getByText("You disabled it. It does not fire until it is enabled.").waitFor();
});
