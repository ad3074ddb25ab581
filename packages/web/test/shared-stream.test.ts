// Streams of runs in a browser: two tabs on one agent, and a run with many steps.
import { call, replyWith } from "@agentcli/testkit";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { loginLink } from "../../platform/src/pages/index.ts";
import { openRunHarness } from "../../platform/test/runs/run-harness.ts";
import { startChromium, visit } from "./chromium.ts";

startChromium();

const isStream = (url: string): boolean => new URL(url).pathname.endsWith("/stream");

test("tabs share one stream; when the reading tab is closed, another continues: nothing is missing, nothing twice", async () => {
  const cmd = "n=0; while [ $n -lt 600 ]; do n=$((n+1)); echo tick $n.; sleep 0.3; done";
  const { fixture, client } = await openRunHarness({ replies: [call("exec_command", { cmd, yield_time_ms: 30_000 })] });
  const { page: first } = await visit(await loginLink(fixture.platform, client.url));
  const { agentId } = await client.create({ prompt: { text: "count" } });
  const streams: string[] = [];
  const follow = async (page: Page, name: string) => {
    page.on("request", (request) => isStream(request.url()) && streams.push(name));
    await page.goto(`${client.url}/agents/${agentId}`);
    await page.locator(".output", { hasText: "tick " }).waitFor();
  };
  /** Of the lines that are shown: the last forty. */
  const ticks = async (page: Page) =>
    [...((await page.locator(".output").textContent()) ?? "").matchAll(/tick (\d+)\./g)].map(([, n]) => Number(n));
  const last = async (page: Page) => (await ticks(page)).at(-1) ?? 0;
  await follow(first, "first");
  const second = await first.context().newPage();
  await follow(second, "second");
  const seen = await last(second);
  await second.locator(".output", { hasText: `tick ${seen + 3}.` }).waitFor();
  await expect.poll(() => last(first)).toBeGreaterThan(seen);
  expect(streams).toEqual(["first"]);

  const before = await last(second);
  await first.close();
  await second.locator(".output", { hasText: `tick ${before + 3}.` }).waitFor();
  expect(streams).toEqual(["first", "second"]);
  const all = await ticks(second);
  expect(all).toEqual(all.map((_, index) => (all[0] ?? 0) + index));
  await second.getByRole("button", { name: "Stop" }).click();
  await second.locator('.run-outcome[data-outcome="CANCELLED"]').waitFor();
});

test("lists of agents change by themselves in all tabs, through one stream of the browser", async () => {
  const { fixture, client } = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  await client.create({ prompt: { text: "the first" } });
  const { page: first } = await visit(await loginLink(fixture.platform, client.url));
  const second = await first.context().newPage();
  const streams: string[] = [];
  for (const [name, page] of Object.entries({ first, second })) {
    page.on("request", (request) => {
      const isStream = request.headers().accept === "text/event-stream";
      if (isStream && request.url().endsWith("/v1/overview/agents")) streams.push(name);
    });
    await page.goto(`${client.url}/agents`);
    await page.locator(".row-name", { hasText: "the first" }).waitFor();
  }
  await expect.poll(() => streams).toEqual(["first"]);
  await client.create({ prompt: { text: "the second" } });
  for (const page of [first, second]) await page.locator(".row-name", { hasText: "the second" }).waitFor();
  await first.close();
  await expect.poll(() => streams.at(-1)).toBe("second");
});

test("a long run opens at its end, and what came before is drawn as one scrolls to it", async () => {
  const turn = (first: number) => ({
    calls: Array.from({ length: 50 }, (_, index) => ({
      name: "exec_command",
      arguments: { cmd: `echo step ${first + index}.` },
    })),
  });
  const replies = [0, 50, 100, 150, 200, 250, 300].map(turn);
  const { fixture, client } = await openRunHarness({ replies: [...replies, replyWith("The end.")] });
  const run = await client.create({ prompt: { text: "take many steps" } });
  expect(await client.waitForRun(run)).toMatchObject({ status: "FINISHED" });
  const { page } = await visit(await loginLink(fixture.platform, client.url));
  // What people look for first does not wait for the steps.
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(
    (url) => isStream(url.href),
    (route) => held.then(() => route.continue()),
  );
  await page.goto(`${client.url}/agents/${run.agentId}`);
  await page.getByText("The end.", { exact: true }).waitFor();
  expect(await page.locator(".step").count()).toBe(0);
  release();
  const step = (number: number) => page.getByText(`echo step ${number}.`, { exact: true });
  const isInView = async (locator: Locator) => {
    const box = await locator.boundingBox();
    return box !== null && box.y > 0 && box.y + box.height < 900;
  };
  await expect.poll(() => isInView(page.getByText("The end.", { exact: true }))).toBe(true);
  await page.locator(".run[data-connection='ended']").waitFor();
  expect(await page.getByText("The end.", { exact: true }).count()).toBe(1);
  expect(await page.locator(".step").count()).toBeLessThan(350);
  await page.keyboard.press("Home");
  await step(0).waitFor();
  await page.getByRole("button", { name: "Jump to latest" }).click();
  await expect.poll(() => isInView(page.getByText("The end.", { exact: true }))).toBe(true);
});
