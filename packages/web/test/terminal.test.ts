// A terminal of an agent's machine in a real browser: what it shows, live, and keys that reach its program.
import { call, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { loginLink } from "../../platform/src/pages/index.ts";
import { openEnvironmentHarness } from "../../platform/test/environments/environment-harness.ts";
import { hasMachines } from "../../platform/test/environments/machine-harness.ts";
import { localMachines } from "../../platform/test/harness/settings.ts";
import { expectNoOverflow, photograph, startChromium, tabTo, visit } from "./chromium.ts";

startChromium();

const sizes = [
  [1440, "light"],
  [820, "dark"],
  [390, "light"],
] as const;

test("the owner of an agent watches its terminals and types into one, by keyboard alone; others see none", async () => {
  const harness = await openEnvironmentHarness({
    executor: "machines",
    settings: { machines: localMachines },
    replies: [
      call("exec_command", { cmd: "until [ -e typed ]; do sleep 0.1; done", yield_time_ms: 600_000 }),
      replyWith("Done."),
    ],
  });
  const { client, fixture } = harness;
  if (!(await hasMachines(harness))) return;
  const config = {
    terminals: [
      { name: "log", command: "printf '\\033[32mready\\033[0m <b>\\n'; exec sleep 3600" },
      { name: "shell", command: "PS1='> ' exec sh" },
    ],
  };
  const url = await harness.repository("shop", { ".platform/environment.json": JSON.stringify(config) });
  const { agentId } = await client.create({ prompt: { text: "begin" }, repos: [{ url }] });
  // The machine is set up first.
  await expect
    .poll(async () => (await client.get(`/v1/agents/${agentId}/terminals/log`)).text, { timeout: 240_000 })
    .toContain("ready");
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url));
  await page.goto(`${client.url}/agents/${agentId}`);
  await page.getByRole("link", { name: "Machine" }).click();
  await page.locator(".ansi-green", { hasText: "ready" }).waitFor();
  await tabTo(page, page.getByRole("button", { name: "shell" }));
  await page.keyboard.press("Enter");
  const screen = page.getByRole("region", { name: "Terminal shell" });
  await tabTo(page, page.getByLabel("Type into shell"));
  await page.keyboard.type("echo $((6 * 7));x");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Enter");
  await screen.getByText(/^42$/m).waitFor();
  await page.keyboard.type("sleep 3600");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+c");
  await page.keyboard.type("printf '\\033[31mstill here\\033[0m\\n'");
  await page.keyboard.press("Enter");
  await page.locator(".ansi-red", { hasText: "still here" }).waitFor();
  await page.locator(".terminal-cursor").waitFor();
  for (const [width, colorScheme] of sizes) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    await expectNoOverflow(page);
    expect([width, await findBarriers()]).toEqual([width, []]);
    await photograph(page, `terminal-${width}-${colorScheme}`);
  }
  await page.keyboard.press("Shift+Tab");
  expect(await page.evaluate("document.activeElement.className")).toBe("terminal-screen");

  const owner = { kind: "user", email: "bob@x" } as const;
  await fixture.platform.principals.createKey({ name: "k", team: "default", owner, scopes: null, expiresAt: null });
  const { page: theirs } = await visit(await loginLink(fixture.platform, client.url, "bob@x"));
  await theirs.goto(`${client.url}/agents/${agentId}`);
  await theirs.getByRole("link", { name: "Events" }).waitFor();
  expect(await theirs.getByRole("link", { name: "Machine" }).count()).toBe(0);
  await page.getByLabel("Type into shell").pressSequentially("touch typed\n");
  await page.getByText("No terminal is open").waitFor();
  expect(complaints).toEqual([]);
});
