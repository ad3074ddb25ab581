// A run in a real browser while the page freezes, the network goes and the server is killed.
import { call, replyWith } from "@agentcli/testkit";
import { openPlatformForTest, type PlatformClient, type RunIds } from "@agentcli/testkit/platform";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { startChromium, visit } from "./chromium.ts";
import { openProxy } from "./proxy.ts";

startChromium();

/** Longer than the window, so that there is a position to keep. */
const introduction = Array.from({ length: 60 }, (_, index) => `Paragraph ${index + 1}.`).join("\n\n");

/** How long the page is frozen or offline: five are a second. */
const pauseTicks = process.env.SWEEP === "full" ? 150 : 10;

/** Each command goes on where the one before it stopped. */
const cmd =
  "n=$(cat n 2>/dev/null || echo 0); end=$((n+125)); while [ $n -lt $end ]; do n=$((n+1)); echo $n > n; echo tick $n.; sleep 0.2; done";

const count = call("exec_command", { cmd, yield_time_ms: 30_000 });

test("an agent is followed through a frozen page, a lost network and kill -9 of the server: whole, nothing twice, position kept", async () => {
  const platform = await openPlatformForTest({
    replies: { replies: [{ ...replyWith(introduction), ...count }, count], repeat: "last" },
    env: { PLATFORM_LEASE_SECONDS: "2" },
  });
  const server = await platform.serve();
  const proxy = await openProxy(server.url);
  const { stdout } = await platform.run(["login-link"]);
  const { page } = await visit(stdout.trim().replace(/^https?:\/\/[^/]+/, proxy.url));
  const client = await platform.client(server);
  const run = await client.create("count");
  await page.goto(`${proxy.url}/agents/${run.agentId}`);
  await ticksAfter(page, 0);
  await page.getByText("Paragraph 5.").scrollIntoViewIfNeeded();
  const position = await scrollPosition(page);

  const lifecycle = await page.context().newCDPSession(page);
  const beforeFreeze = await lastTick(page);
  await lifecycle.send("Page.setWebLifecycleState", { state: "frozen" });
  await printed(client, run, beforeFreeze + pauseTicks);
  await lifecycle.send("Page.setWebLifecycleState", { state: "active" });
  await ticksAfter(page, beforeFreeze + pauseTicks);

  const beforeCut = await lastTick(page);
  await page.context().setOffline(true);
  await page.getByText("Reconnecting").waitFor();
  await printed(client, run, beforeCut + pauseTicks);
  await page.context().setOffline(false);
  await page.getByText("Reconnecting").waitFor({ state: "hidden" });
  await ticksAfter(page, beforeCut + pauseTicks);
  expect(await scrollPosition(page)).toBe(position);

  const beforeKill = await lastTick(page);
  await server.stop("SIGKILL");
  proxy.cut();
  await page.getByText("Reconnecting").waitFor();
  proxy.restore((await platform.serve()).url);
  await ticksAfter(page, beforeKill);
  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator('.run-outcome[data-outcome="CANCELLED"]').waitFor();
  expect(await page.locator(".prompt-text").allTextContents()).toEqual(["count"]);
  expect(await page.getByText("Paragraph 60.", { exact: true }).count()).toBe(1);
  expect(await scrollPosition(page)).toBe(position);
});

/** The server has this tick, whatever the browser knows of it. */
async function printed(client: PlatformClient, run: RunIds, tick: number): Promise<void> {
  const leave = new AbortController();
  const isIt = (text: string) => text.includes(`tick ${tick}.`) && leave.abort();
  await client.follow(run, ({ data }) => isIt(JSON.stringify(data)), leave.signal);
}

/** Of each command the last forty lines are shown: none twice, and none missing between two of them. */
async function lastTick(page: Page): Promise<number> {
  const outputs = await page.locator(".output").allTextContents();
  const shown = outputs.map((text) => [...text.matchAll(/tick (\d+)\./g)].map(([, tick]) => Number(tick)));
  for (const ticks of shown) expect(ticks).toEqual(ticks.map((_, index) => (ticks[0] ?? 0) + index));
  const all = shown.flat();
  expect(all).toEqual([...new Set(all)].sort((a, b) => a - b));
  return all.at(-1) ?? 0;
}

async function ticksAfter(page: Page, tick: number): Promise<void> {
  await expect.poll(() => lastTick(page), { timeout: 120_000 }).toBeGreaterThan(tick + 3);
}

const scrollPosition = async (page: Page): Promise<number> =>
  Number(await page.evaluate("document.scrollingElement.scrollTop"));
