// The web app on a phone: it can be installed, and other apps share texts with it.
import { expect, test } from "vitest";
import { loginLink } from "../../platform/src/pages/index.ts";
import { openRunHarness } from "../../platform/test/runs/run-harness.ts";
import { expectNoOverflow, photograph, startChromium, visit } from "./chromium.ts";

startChromium();

interface Manifest {
  start_url: string;
  share_target: { action: string; params: Record<string, string> };
}

test("Chromium finds nothing that keeps the app from being installed, and what is shared joins the draft once", async () => {
  const { fixture, client } = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  const options = { width: 390, colorScheme: "dark" } as const;
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url), options);
  const devtools = await page.context().newCDPSession(page);
  const { url, data = "", errors } = await devtools.send("Page.getAppManifest");
  expect([url, errors]).toEqual([`${client.url}/manifest.webmanifest`, []]);
  const { installabilityErrors } = await devtools.send("Page.getInstallabilityErrors");
  // A context of a test is a private window, the only thing that Chromium holds against it.
  expect(installabilityErrors.map(({ errorId }) => errorId)).toEqual(["in-incognito"]);

  const { start_url, share_target } = JSON.parse(data) as Manifest;
  expect((await page.goto(new URL(start_url, client.url).href))?.status()).toBe(200);
  const share = (fields: Record<string, string>) => {
    const named = Object.entries(fields).map(([name, value]): [string, string] => [
      share_target.params[name] ?? name,
      value,
    ]);
    return page.goto(`${client.url}${share_target.action}?${new URLSearchParams(named)}`);
  };
  const prompt = page.getByLabel("What should it do?");
  await share({ title: "Issue 7", text: "<b>It fails</b>\nsee https://x.example/7", url: "https://x.example/7" });
  const first = "Issue 7\n<b>It fails</b>\nsee https://x.example/7";
  await expect.poll(() => prompt.inputValue()).toBe(first);
  await page.waitForURL((address) => address.search === "");
  await share({ text: "42" });
  await page.waitForURL((address) => address.search === "");
  await expect.poll(() => prompt.inputValue()).toBe(`${first}\n\n42`);
  await expectNoOverflow(page);
  expect(await findBarriers()).toEqual([]);
  await photograph(page, "shared-390");
  expect(complaints).toEqual([]);
});
