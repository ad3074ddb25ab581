// From `npm start` in an empty directory to a merged pull request: in the browser, by keyboard alone, without a terminal.
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { eventually, waitForExit } from "@agentcli/testkit";
import type { Locator } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { removeData } from "../../../scripts/local-platform.mjs";
import { openVisitor, startChromium, tabTo } from "./chromium.ts";

startChromium();

test("a person goes from npm start to a merged pull request with the keyboard, and each first step is checked live", async () => {
  const { page, complaints, findBarriers } = await openVisitor();
  const press = async (target: Locator) => {
    await tabTo(page, target);
    await page.keyboard.press("Enter");
  };
  await page.goto(await startPlatform());
  await press(page.getByRole("button"));
  await page.locator("aside.side").waitFor();

  const step = (title: string) => page.locator(".step-card", { hasText: title });
  await page.getByRole("heading", { name: "Four steps to the first result" }).waitFor();
  expect(await findBarriers()).toEqual([]);
  expect(await step("Check the model").getAttribute("data-done")).toBe("false");
  await press(page.getByRole("button", { name: "Check now" }));
  await expect.poll(() => step("Check the model").getAttribute("data-done")).toBe("true");
  await expect.poll(() => step("Add a repository").textContent()).toContain("Agents can work on sample");

  await tabTo(page, page.getByLabel("US dollars a month"));
  await page.keyboard.type("5");
  await page.keyboard.press("Enter");
  await expect.poll(() => step("Choose a spend limit").getAttribute("data-done")).toBe("true");
  expect(await step("Choose a spend limit").textContent()).toContain("may spend $5 a month");

  await press(page.getByRole("link", { name: "Start the first one" }));
  await expect.poll(() => page.getByLabel("Repository").inputValue()).toContain("/git/sample");
  await page.getByLabel("What should it do?").waitFor();
  await page.keyboard.type("Fix the failing test");
  await tabTo(page, page.getByLabel("Open a draft pull request"));
  if (!(await page.getByLabel("Open a draft pull request").isChecked())) await page.keyboard.press("Space");
  await page.keyboard.press("Shift+Tab");
  await press(page.getByRole("button", { name: "Start agent" }));

  await page.locator('.run-outcome[data-outcome="FINISHED"]').waitFor();
  await press(page.locator(".agent-facts a"));
  await press(page.getByRole("button", { name: "Ready for review" }));
  await page.getByText("+  const last = first + size;", { exact: true }).waitFor();
  expect(await findBarriers()).toEqual([]);
  await press(page.getByRole("button", { name: "Merge" }));
  await press(page.getByRole("dialog").getByRole("button", { name: "Merge" }));
  await page.getByText("Merged", { exact: true }).waitFor();
  expect(complaints).toEqual([]);
});

/** Returns the login link that it prints. */
async function startPlatform(): Promise<string> {
  const data = mkdtempSync(join(tmpdir(), "platform-first-run-"));
  const env = { ...process.env, PLATFORM_DATA: data, PLATFORM_LISTEN: "127.0.0.1:0" };
  const script = fileURLToPath(new URL("../../../scripts/start.mjs", import.meta.url));
  const child = spawn(process.execPath, [script], { detached: true, env });
  const ended = waitForExit(child);
  onTestFinished(async () => {
    process.kill(-(child.pid ?? 0), "SIGINT");
    await ended;
    removeData(data);
  });
  let printed = "";
  child.stdout.on("data", (text) => {
    printed += text;
  });
  await eventually(() => printed.includes("Ctrl-C") || child.exitCode !== null);
  const [, link = ""] = /^Open: +(\S+)$/m.exec(printed) ?? [];
  expect(link).toMatch(/^http/);
  return link;
}
