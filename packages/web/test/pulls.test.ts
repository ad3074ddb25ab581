// The embedded git host in the browser: from an agent's work to a merged pull request by keyboard, files and commits; the API reference.
import { call, replyWith } from "@agentcli/testkit";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { loginLink } from "../../platform/src/pages/index.ts";
import { openPull } from "../../platform/test/repositories/open-pull.ts";
import { openRunHarness } from "../../platform/test/runs/run-harness.ts";
import { expectNoOverflow, photograph, startChromium, visit } from "./chromium.ts";

startChromium();

const hostile = "<img src=x onerror=\"document.title='hacked'\">";
const edit = (from: string, to: string) =>
  `*** Begin Patch\n*** Update File: notes.txt\n@@\n-${from}\n+${to}\n*** End Patch`;

/** Moves the focus with the Tab key alone, to a link or button that is there. */
async function tabTo(page: Page, name: string): Promise<void> {
  await page.locator(`:is(a, button):is(:has-text("${name}"), [aria-label^="${name}"])`).first().waitFor();
  const focused = () =>
    page
      .locator("*:focus")
      .evaluateAll((found) => found.map((one) => one.getAttribute("aria-label") ?? one.textContent).join(""));
  for (let pressed = 0; pressed < 80 && !(await focused()).includes(name); pressed += 1)
    await page.keyboard.press("Tab");
  expect(await focused()).toContain(name);
}

async function press(page: Page, name: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press("Enter");
}

test("from the login to a merged pull request with the keyboard alone, with a comment that the agent addresses", async () => {
  const commit = (text: string) => call("exec_command", { cmd: `git add -A && git commit --quiet -m '${text}'` });
  const { fixture, client, repository, requests } = await openRunHarness({
    replies: [
      call("apply_patch", { input: edit("old line", "new line") }),
      commit("Change the notes"),
      replyWith(`Done. ${hostile}`),
      call("apply_patch", { input: edit("new line", "better line") }),
      commit("Say it better"),
      replyWith("Addressed."),
    ],
  });
  await repository("notes", { "notes.txt": "old line\n" });
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url));
  await press(page, "Start the first one");
  await page.getByLabel("What should it do?").waitFor();
  await page.keyboard.type("Change the notes");
  await page.keyboard.press("Control+Enter");
  await page.locator('.run-outcome[data-outcome="FINISHED"]').waitFor();
  await page.locator("a.pull").waitFor();
  await press(page, "#1");

  await page.locator(".pull-page tr.diff-add", { hasText: "new line" }).waitFor();
  expect(await findBarriers()).toEqual([]);
  await press(page, "Comment on line 1");
  await page.getByRole("textbox", { name: "Comment on line 1" }).waitFor();
  await page.keyboard.type(`Say it better ${hostile}`);
  await page.keyboard.press("Control+Enter");
  await page.locator(".line-notes .posted", { hasText: "Say it better" }).waitFor();
  await page.getByRole("button", { name: "Ask it to address 1 comment" }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Ask it to address 1 comment" }).waitFor();
  await press(page, "Ask it to address 1 comment");
  await page.getByText("Addressed.").waitFor();
  await expect.poll(() => JSON.stringify(requests().at(-1)?.body)).toContain("notes.txt line 1");

  await page.locator("a.pull").waitFor();
  await press(page, "#1");
  await page.locator(".pull-page tr.diff-add", { hasText: "better line" }).waitFor();
  for (const width of [390, 820, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await expectNoOverflow(page);
  }
  await press(page, "Approve");
  await page.locator(".posted", { hasText: "Approved" }).waitFor();
  await press(page, "Ready for review");
  await page.locator('[data-state="open"]').waitFor();
  await press(page, "Merge");
  const question = page.getByRole("dialog", { name: "Merge #1 into main?" });
  expect(await question.textContent()).toContain("“Change the notes” of platform/");
  expect(await findBarriers()).toEqual([]);
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await photograph(page, `merge-${width}`);
  }
  await press(page, "Cancel");
  await question.waitFor({ state: "detached" });
  expect(await page.locator('[data-state="open"]').count()).toBeGreaterThan(0);
  await press(page, "Merge");
  await question.waitFor();
  await press(page, "Merge");
  await page.locator('[data-state="merged"]').waitFor();
  expect(await findBarriers()).toEqual([]);
  await press(page, "All pull requests of notes");
  await page.locator('[data-pull="1"] [data-state="merged"]').waitFor();
  expect(await findBarriers()).toEqual([]);
  expect(await page.title()).not.toBe("hacked");
  expect(complaints).toEqual([]);
});

test("files, history and commits of a repository are read in the app, and one is copied from its address", async () => {
  const { fixture, client } = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  const { name } = await openPull(client.url, client.key, "shop", {
    "README.md": `# Shop\n\nRead [the code](src/main.ts) ${hostile}\n\nold line\n`,
    "src/main.ts": `// ${hostile}\nexport const answer = "42";\nreturn answer + 7;\n`,
  });
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url));
  const look = async (picture: string) => {
    expect([picture, await findBarriers()]).toEqual([picture, []]);
    for (const width of [390, 820, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await expectNoOverflow(page);
      await photograph(page, `${picture}-${width}`);
    }
  };
  await page.goto(`${client.url}/repositories/${name}`);
  await page.getByRole("heading", { name: "Shop" }).waitFor();
  // A heading with the name of the repository is there before its README.
  await page.locator(".readme a").first().waitFor();
  await look("repository");
  await page.evaluate("document.querySelector('.readme a').removeAttribute('target')");
  await page.getByRole("link", { name: "the code" }).click();
  await page.locator(".code-string", { hasText: '"42"' }).waitFor();
  expect(await page.locator(".code-comment").textContent()).toBe(`// ${hostile}`);
  expect(await page.locator(".code-word").allTextContents()).toEqual(["export", "const", "return"]);
  await page.locator(".code-number", { hasText: "2" }).click();
  await page.locator("#L2.is-chosen").waitFor();
  await look("file");

  await page.getByLabel("Branch").selectOption("topic");
  await page.waitForURL("**/repositories/shop?*ref=topic*");
  await press(page, "Commits");
  await page.locator("[data-commit]").first().waitFor();
  expect(await page.locator("[data-commit]").count()).toBe(1);
  await page.getByLabel("Branch").selectOption("topic");
  await expect.poll(() => page.locator("[data-commit]").count()).toBe(2);
  await look("commits");
  await page.locator("[data-commit] a").first().click();
  await page.locator("tr.diff-add", { hasText: "new line" }).waitFor();
  await look("commit");
  await press(page, "Files at this commit");
  await page.locator("[data-entry='more.txt']").waitFor();

  await press(page, "All repositories");
  await page.getByLabel("Copy from (optional)").fill(`${client.url}/git/shop.git`);
  await page.getByLabel("Name of the repository").fill("copied");
  await look("repositories");
  await press(page, "Copy repository");
  await page.locator("[data-repository='copied'] a").click();
  await page.getByRole("heading", { name: "Shop" }).waitFor();
  expect(await page.title()).not.toBe("hacked");
  expect(complaints).toEqual([]);
});

test("the API reference is searched and read in the app, with examples that work", async () => {
  const { fixture, client } = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url));
  await page.goto(`${client.url}/api-reference`);
  await page.getByLabel("Search operations").fill("create repository");
  await page.getByRole("button", { name: "POST /v1/repositories Create" }).click();
  const example = page.locator(".example .code").first();
  await example.waitFor();
  expect(await findBarriers()).toEqual([]);
  for (const width of [390, 820, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await expectNoOverflow(page);
    await photograph(page, `reference-${width}`);
  }
  const text = (await example.textContent()) ?? "";
  const [, json = ""] = /--data '([\s\S]*)'$/.exec(text) ?? [];
  const { importUrl, ...body } = JSON.parse(json);
  expect(importUrl).toBe("https://github.com/owner/name");
  expect(text).toContain(`curl --request POST "${client.url}/v1/repositories"`);
  expect((await client.send("POST", "/v1/repositories", body)).status).toBe(201);
  await page.reload();
  await example.waitFor();
  expect(new URL(page.url()).searchParams.get("q")).toBe("create repository");
  await page.getByLabel("Search operations").fill("nothing at all like this");
  await page.getByRole("heading", { name: "Nothing matches" }).waitFor();
  expect(complaints).toEqual([]);
});
