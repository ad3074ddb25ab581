// Environments in the browser: two builds compared, one activated, and an agent that starts from a build that failed.
import type { Build } from "@agentcli/protocol/api";
import { expect, test } from "vitest";
import { openMachines } from "../../platform/src/machines/index.ts";
import { loginLink } from "../../platform/src/pages/index.ts";
import { openEnvironmentHarness } from "../../platform/test/environments/environment-harness.ts";
import { expectNoOverflow, photograph, startChromium, visit } from "./chromium.ts";

startChromium();

test("two builds are compared, one is activated, and an agent starts from a failed one", async () => {
  const harness = await openEnvironmentHarness({ executor: "machines" });
  const { client, fixture } = harness;
  const { id } = await harness.create("shop", { config: { install: "echo one > /root/both; echo > /root/gone" } });
  const newest = async (): Promise<Build> =>
    harness.ended((await harness.builds(id))[0] ?? expect.fail("there is no build"));
  const change = async (install: string) => {
    await client.send("PATCH", `/v1/environments/${id}`, { environmentJson: JSON.stringify({ install }) });
    return newest();
  };
  const first = await newest();
  const provider = await openMachines(fixture.platform.settings).provider();
  if ((await provider.capabilities()).obstacle !== null) return expect(first.status).toBe("FAILED");
  const second = await change("echo three > /root/both; echo > /root/new");
  const failed = await change("echo half > /root/half; exit 3");
  expect([first.status, second.status, failed.status]).toEqual(["SUCCEEDED", "SUCCEEDED", "FAILED"]);

  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url));
  await page.goto(`${client.url}/environments/${id}/builds/${first.id}`);
  await page.getByRole("link", { name: "Compare" }).click();
  await page.getByLabel("Before").selectOption(first.id);
  await page.getByLabel("After").selectOption(second.id);
  const rows = page.locator("[data-difference]");
  await expect
    .poll(async () => (await rows.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ").trim()), {
      timeout: 60_000,
    })
    .toEqual(["Changed /root/both 4 bytes 6 bytes", "Removed /root/gone 1 bytes", "Added /root/new 1 bytes"]);
  expect(await findBarriers()).toEqual([]);
  for (const width of [390, 820, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await expectNoOverflow(page);
    await photograph(page, `build-diff-${width}`);
  }

  await page.goto(`${client.url}/environments/${id}/builds/${first.id}`);
  await page.getByRole("button", { name: "Activate" }).click();
  await page.getByRole("button", { name: "Activate" }).waitFor({ state: "detached" });
  expect(await harness.active(id)).toBe(first.id);

  await page.goto(`${client.url}/environments/${id}/builds/${failed.id}`);
  await page.locator(".output", { hasText: "echo half" }).waitFor();
  await photograph(page, "build-failed-1440");
  await page.getByRole("link", { name: "Start an agent to find out why" }).click();
  await page.getByText("Starts from build").waitFor();
  expect(await findBarriers()).toEqual([]);
  await photograph(page, "new-from-build-1440");
  await page.getByLabel("What should it do?").fill("Find out why install fails");
  await page.getByRole("button", { name: "Start agent" }).click();
  await page.waitForURL("**/agents/bc-*");
  const agentId = new URL(page.url()).pathname.split("/").at(-1);
  expect(await client.getJson(`/v1/agents/${agentId}`)).toMatchObject({
    env: { type: "cloud", name: "shop", buildId: failed.id },
  });
  expect(complaints).toEqual([]);
});
