// Reviewing what an agent made: comments on lines go to it as one message, a failed run is tried again, usage is shown.
import { call, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { loginLink } from "../../platform/src/pages/index.ts";
import { openRunHarness } from "../../platform/test/runs/run-harness.ts";
import { expectNoOverflow, photograph, startChromium, visit } from "./chromium.ts";

startChromium();

const patch = "*** Begin Patch\n*** Update File: notes.txt\n@@\n-old line\n+new line\n+one more\n*** End Patch";

test("comments on lines survive a reload and reach the agent as one message; a stopped run can be tried again", async () => {
  const { fixture, client, repository, requests } = await openRunHarness({
    replies: [
      call("apply_patch", { input: patch }),
      replyWith("Done."),
      call("exec_command", { cmd: "echo turn > turn.txt; sleep 3600" }),
      replyWith("Tried again."),
    ],
  });
  const url = await repository("notes", { "notes.txt": "old line\n" });
  const { agentId } = await client.create({ prompt: { text: "change the notes" }, repos: [{ url }] });
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url));
  await page.goto(`${client.url}/agents/${agentId}`);
  await page.locator('.run-outcome[data-outcome="FINISHED"]').waitFor();
  await page.getByRole("link", { name: "Changes" }).click();
  const comment = async (line: string, text: string) => {
    await page.getByRole("button", { name: `Comment on ${line}`, exact: true }).click();
    await page.getByRole("textbox", { name: /^Comment on line/ }).fill(text);
    await page.keyboard.press("Control+Enter");
  };
  await comment("line 1", "Name it <b>better</b>");
  await comment("line 2", "Is this needed?");
  await page.getByText("2 comments").waitFor();
  expect(await findBarriers()).toEqual([]);
  await page.setViewportSize({ width: 390, height: 800 });
  await expectNoOverflow(page);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.reload();
  await page.getByText("Name it <b>better</b>").waitFor();
  await page.getByRole("button", { name: "Mark as reviewed" }).click();
  await page.getByText("Nothing has changed since.").waitFor();
  expect(await page.locator(".file").count()).toBe(0);
  expect(await findBarriers()).toEqual([]);
  await page.getByRole("button", { name: "Discard" }).click();
  await page.getByRole("dialog", { name: "Discard 2 comments?" }).getByRole("button", { name: "Keep" }).click();
  await page.getByRole("button", { name: "Send to the agent" }).click();

  const message =
    "Address these review comments on your changes.\n\n" +
    "1. notes.txt, line 1: new line\n   Name it <b>better</b>\n\n2. notes.txt, line 2: one more\n   Is this needed?";
  await expect.poll(() => page.locator(".prompt-text").last().textContent()).toBe(message);
  await expect.poll(() => JSON.stringify(requests().at(-1)?.body)).toContain("Is this needed?");
  const changedFiles = async () => {
    await page.getByRole("button", { name: "Refresh" }).click();
    return page.locator(".file-path").allTextContents();
  };
  await page.getByRole("link", { name: "Changes" }).click();
  await page.getByRole("button", { name: "This turn" }).click();
  await expect.poll(changedFiles).toEqual(["turn.txt"]);
  expect(new URL(page.url()).searchParams.get("show")).toBe("turn");
  expect(await findBarriers()).toEqual([]);
  await page.getByRole("button", { name: "All changes" }).click();
  await expect.poll(changedFiles).toEqual(["notes.txt", "turn.txt"]);
  await page.getByRole("link", { name: "Conversation" }).click();
  const stop = page.getByRole("button", { name: "Stop" });
  expect(await stop.getAttribute("title")).toBe("What it has done stays. A message or Retry lets it go on.");
  await stop.click();
  await page.locator('.run-outcome[data-outcome="CANCELLED"]').waitFor();
  await page.getByText("It was stopped. What it has done stays").waitFor();
  expect(await findBarriers()).toEqual([]);
  await photograph(page, "stopped");
  await page.getByRole("link", { name: "Changes" }).click();
  await page.getByRole("button", { name: "All changes" }).click();
  await expect.poll(changedFiles).toEqual(["notes.txt", "turn.txt"]);
  await page.getByRole("link", { name: "Conversation" }).click();
  await page.getByRole("button", { name: "Retry" }).click();
  await page.getByText("Tried again.").waitFor();
  expect(await page.locator(".prompt-text").allTextContents()).toEqual(["change the notes", message, message]);

  await page.getByRole("link", { name: "Changes" }).click();
  await page.getByRole("button", { name: "This turn" }).click();
  await page.getByText("This turn has changed nothing").waitFor();
  await page.getByRole("link", { name: "Usage" }).last().click();
  await page.getByText("Read from cache").waitFor();
  expect(await page.locator(".table tbody tr").count()).toBe(3);
  expect(await findBarriers()).toEqual([]);
  expect(complaints).toEqual([]);
});
