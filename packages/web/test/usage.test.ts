// Usage and the pages around an agent in a real browser: bars and limits, and tabs on a phone.
import { openClient } from "@agentcli/testkit/platform";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { loginLink } from "../../platform/src/pages/index.ts";
import { openRunHarness } from "../../platform/test/runs/run-harness.ts";
import { expectNoOverflow, photograph, startChromium, visit } from "./chromium.ts";

startChromium();

const sizes = [390, 820, 1440].flatMap((width) =>
  (["light", "dark"] as const).map((scheme) => [width, scheme] as const),
);

const dayMs = 86_400_000;

const widths = (page: Page, section: string): Promise<number[]> =>
  page
    .getByRole("region", { name: section })
    .locator(".share .bar")
    .evaluateAll((bars) => bars.map((bar) => Math.round(Number(bar.getAttribute("width")))));

/** As long as a value may be, with nothing to break a line at. */
const note = "x".repeat(512);

interface Work {
  model: string;
  usd: string;
  daysAgo: number;
  repos?: { url: string }[];
  metadata?: Record<string, string>;
}

const names = (page: Page, section: string): Promise<string[]> =>
  page.getByRole("region", { name: section }).locator(".table-name").allTextContents();

async function openSpent() {
  const harness = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  const { fixture, client, repository } = harness;
  const { db, principals } = fixture.platform;
  const owner = { kind: "user", email: "bob@x" } as const;
  const { key } = await principals.createKey({ name: "k", team: "default", owner, scopes: null, expiresAt: null });
  const bob = openClient(client.url, key);
  const spend = async (who: typeof client, { model, usd, daysAgo, ...about }: Work) => {
    const { agentId } = await who.create({ prompt: { text: `Work with ${model}` }, ...about });
    const at = new Date(Date.now() - daysAgo * dayMs);
    const used = {
      model,
      cost_usd: usd,
      input_tokens: 1_000,
      created_at: at,
      ended_at: at,
      status: "FINISHED",
    } as const;
    await db.updateTable("runs").set(used).where("agent_id", "=", agentId).execute();
    return agentId;
  };
  const repos = [{ url: await repository("shop", { "README.md": "# Shop" }) }];
  await spend(client, { model: "large", usd: "8", daysAgo: 0, repos, metadata: { team: "payments", ticket: "PAY-1" } });
  await spend(bob, { model: "small", usd: "2", daysAgo: 3, repos, metadata: { team: "search", note } });
  const agentId = await spend(bob, { model: "small", usd: "2", daysAgo: 0 });
  return { ...harness, agentId };
}

test("usage has a bar for each day, model, person, repository and tag, and says how much of the limit is used", async () => {
  const { fixture, client } = await openSpent();
  const { db } = fixture.platform;
  const limitTeam = (usd: string) => db.updateTable("teams").set({ spend_limit_usd: usd }).execute();
  await limitTeam("1000");
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url));
  await page.goto(`${client.url}/usage?of=team&days=7`);
  await page.getByText("highest $10.00").waitFor();
  expect(await page.locator(".chart .bar").count()).toBe(7);
  expect(await page.locator(".chart .bar:not(.bar-none)").count()).toBe(2);
  expect(await widths(page, "Models")).toEqual([100, 50]);
  expect(await widths(page, "People")).toEqual([100, 50]);
  expect(await names(page, "Repositories")).toEqual(["shop"]);
  expect(await names(page, "Tags")).toEqual([
    "team: payments",
    "ticket: PAY-1",
    `note: ${note}`,
    "team: search",
    "Without a tag",
  ]);
  expect(await widths(page, "Tags")).toEqual([100, 100, 25, 25, 25]);
  await page.getByText("An agent with several tags counts for each.").waitFor();
  await page.getByText(/^1 % used$/).waitFor();
  for (const [width, colorScheme] of sizes) {
    await page.setViewportSize({ width, height: 1000 });
    await page.emulateMedia({ colorScheme });
    await expectNoOverflow(page);
    expect([width, await findBarriers()]).toEqual([width, []]);
    await photograph(page, `usage-${width}-${colorScheme}`, { fullPage: true });
  }
  await limitTeam("1");
  await page.reload();
  await page.getByText("Reached: new runs are refused").waitFor();

  await db.updateTable("runs").set({ cost_usd: null }).execute();
  await page.reload();
  await page.getByText("Tokens by day").first().waitFor();
  expect(await widths(page, "Models")).toEqual([100, 50]);
  expect(complaints).toEqual([]);
});

test("on a phone every tab of an agent can be reached by touch, and the open one is in sight", async () => {
  const { fixture, client, agentId } = await openSpent();
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url), { width: 390 });
  for (const path of ["", "/usage"]) {
    await page.goto(`${client.url}/agents/${agentId}${path}`);
    const open = page.locator(".tab.active");
    await open.waitFor();
    const box = await open.boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
    expect(box?.height).toBeGreaterThanOrEqual(32);
  }
  for (const path of [`/agents/${agentId}`, "/agents"])
    for (const [width, colorScheme] of sizes) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await page.goto(`${client.url}${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.locator(".skeleton").first().waitFor({ state: "detached" });
      await expectNoOverflow(page);
      expect([path, width, await findBarriers()]).toEqual([path, width, []]);
      await photograph(page, `${path === "/agents" ? "list" : "agent"}-${width}-${colorScheme}`);
    }
  expect(complaints).toEqual([]);
});
