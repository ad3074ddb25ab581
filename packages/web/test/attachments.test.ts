// Files that a person adds to the prompt of a new agent, in a browser: what reaches the model, and what is refused.
import { replyWith } from "@agentcli/testkit";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { loginLink } from "../../platform/src/pages/index.ts";
import { openRunHarness } from "../../platform/test/runs/run-harness.ts";
import { expectNoOverflow, photograph, startChromium, visit } from "./chromium.ts";

startChromium();

const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Like Ctrl V after copying a file, or a drop on the prompt. */
const give = (page: Page, event: "paste" | "drop", file: Record<"name" | "type" | "base64", string>) =>
  page.evaluate(`(([kind, { name, type, base64 }]) => {
    const files = new DataTransfer();
    files.items.add(new File([Uint8Array.from(atob(base64), (one) => one.charCodeAt(0))], name, { type }));
    const options = { bubbles: true, cancelable: true, clipboardData: files, dataTransfer: files };
    const given = kind === "paste" ? new ClipboardEvent(kind, options) : new DragEvent(kind, options);
    document.querySelector(".prompt-input").dispatchEvent(given);
  })(${JSON.stringify([event, file])})`);

test("files are chosen, pasted and dropped: images and text reach the model, others are refused with the reason", async () => {
  const { fixture, client, requests } = await openRunHarness({ replies: [replyWith("Seen.")] });
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url));
  await page.goto(`${client.url}/agents/new`);
  const prompt = page.getByLabel("What should it do?");
  await prompt.fill("Look at these");
  const choose = (name: string, buffer: Buffer, mimeType: string) =>
    page.locator("input[type=file]").setInputFiles({ name, buffer, mimeType });

  await choose("program.bin", Buffer.from([0, 255, 254]), "application/octet-stream");
  await page.getByText("program.bin is neither text nor an image").waitFor();
  await choose("long.txt", Buffer.alloc(100_001, "a"), "text/plain");
  await page.getByText("long.txt is too long for a prompt").waitFor();
  expect(await prompt.inputValue()).toBe("Look at these");

  await choose("error.log", Buffer.from("line one\nline two\n"), "text/plain");
  await expect.poll(() => prompt.inputValue()).toBe("Look at these\n\nerror.log:\n```\nline one\nline two\n```");
  await page.getByText("long.txt").waitFor({ state: "detached" });
  await give(page, "drop", { name: "b.md", type: "", base64: Buffer.from("dropped").toString("base64") });
  await expect.poll(() => prompt.inputValue()).toContain("b.md:\n```\ndropped\n```");
  await give(page, "paste", { name: "a.png", type: "image/png", base64: picture });
  await page.getByAltText("Added 1").waitFor();
  expect(await findBarriers()).toEqual([]);
  await page.setViewportSize({ width: 390, height: 800 });
  await expectNoOverflow(page);
  await photograph(page, "attachments-390");

  await page.getByRole("button", { name: "Start agent" }).click();
  await page.getByText("Seen.").waitFor();
  const sent = JSON.stringify(requests()[0]?.body);
  expect(sent).toContain("line one\\nline two");
  expect(sent).toContain("dropped");
  expect(sent).toContain(picture);
  expect(complaints).toEqual([]);
});
