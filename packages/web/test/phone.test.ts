// The web app on a phone: it can be installed, other apps share texts with it, and it tells of ended runs.
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

/** A subscription as the push service of a browser makes it, which is not on this machine. */
const subscription = {
  endpoint: "http://127.0.0.1:9/send/one",
  keys: { p256dh: `B${"A".repeat(86)}`, auth: "A".repeat(22) },
};

test("notifications are turned on and off in a browser, and its service worker shows what arrives", async () => {
  const { fixture, client } = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  const options = { width: 390, colorScheme: "light" } as const;
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url), options);
  await page.context().grantPermissions(["notifications"], { origin: client.url });
  const answer = `async () => ({ toJSON: () => (${JSON.stringify(subscription)}) })`;
  await page.addInitScript(`PushManager.prototype.subscribe = ${answer}`);
  await page.goto(`${client.url}/settings`);
  await page.getByRole("button", { name: "Turn on in this browser" }).click();
  const turnOff = page.getByRole("button", { name: "Turn off in this browser" });
  await turnOff.waitFor();
  await page.reload();
  await turnOff.scrollIntoViewIfNeeded();
  await expectNoOverflow(page);
  expect(await findBarriers()).toEqual([]);
  await photograph(page, "notifications-390");

  const devtools = await page.context().newCDPSession(page);
  const registrations: string[] = [];
  devtools.on("ServiceWorker.workerRegistrationUpdated", (event) =>
    registrations.push(...event.registrations.map(({ registrationId }) => registrationId)),
  );
  await devtools.send("ServiceWorker.enable");
  await expect.poll(() => registrations.length).toBeGreaterThan(0);
  const listShown = `navigator.serviceWorker.ready.then((registration) => registration.getNotifications())
    .then((all) => all.map(({ tag, body }) => tag + ": " + body).sort())`;
  const shown = () => page.evaluate(listShown);
  const message = { title: "Agent 1", body: "<b>Finished</b>", tag: "bc-1", path: "/agents/bc-1" };
  const [registrationId = ""] = registrations;
  await devtools.send("ServiceWorker.deliverPushMessage", {
    ...{ origin: client.url, registrationId, data: JSON.stringify(message) },
  });
  await expect.poll(shown).toEqual(["bc-1: <b>Finished</b>"]);

  const deliver = async (agent: number, body: string) => {
    const next = { title: `Agent ${agent}`, body, tag: `bc-${agent}`, path: `/agents/bc-${agent}` };
    await devtools.send("ServiceWorker.deliverPushMessage", {
      ...{ origin: client.url, registrationId, data: JSON.stringify(next) },
    });
    await expect.poll(async () => String(await shown())).toContain(`bc-${agent}: ${body}`);
  };
  const titles = () =>
    page.evaluate(`navigator.serviceWorker.ready.then((registration) => registration.getNotifications())
      .then((all) => all.map(({ title }) => title).sort())`);
  await deliver(1, "Failed");
  await expect.poll(titles).toEqual(["Agent 1 (2)"]);
  await page.goto(`${client.url}/settings`);

  await turnOff.click();
  await page.getByRole("button", { name: "Turn on in this browser" }).waitFor();
  expect(complaints).toEqual([]);
});
