// The web app in a real browser, against a real platform with a scripted model.
import { call, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { loginLink } from "../../platform/src/pages/index.ts";
import { openRunHarness } from "../../platform/test/runs/run-harness.ts";
import { expectNoOverflow, photograph, startChromium, visit } from "./chromium.ts";
import { openProxy } from "./proxy.ts";

startChromium();

const hostile = `<img src=x onerror="document.title='hacked'"><script>document.title='hacked'</script>`;

const patch = "*** Begin Patch\n*** Update File: notes.txt\n@@\n-old line\n+new line <b>bold</b>\n*** End Patch";

test("a person starts an agent, follows it, answers it and finds it again, by keyboard alone where that is faster", async () => {
  const { fixture, client, repository } = await openRunHarness({
    replies: [
      call("exec_command", { cmd: "printf '\\033[31mred words\\033[0m\\n'; exit 3" }),
      call("apply_patch", { input: patch }),
      replyWith(`## Result\n\n- It is **done**. ${hostile} [a link](javascript:alert(1))`),
      replyWith("The second answer."),
    ],
  });
  const url = await repository("notes", { "notes.txt": "old line\n" });
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url));
  await page.getByRole("link", { name: "Start the first one" }).click();
  await page.getByLabel("What should it do?").fill(`Change the notes ${hostile}`);
  await expect.poll(() => page.getByLabel("Repository").inputValue()).toBe(url);
  expect(await findBarriers()).toEqual([]);
  await page.keyboard.press("Control+Enter");

  await page.locator(".bad", { hasText: "exit 3" }).waitFor();
  expect(await page.locator(".ansi-red").textContent()).toBe("red words");
  expect(await page.locator("tr.diff-add .diff-text").textContent()).toBe("+new line <b>bold</b>");
  await page.getByRole("heading", { name: "Result" }).waitFor();
  await page.locator('.run-outcome[data-outcome="FINISHED"]').waitFor();
  expect(await page.locator(".markdown a[href^='javascript']").count()).toBe(0);
  expect(await page.locator(".markdown img").count()).toBe(0);
  expect(await findBarriers()).toEqual([]);

  await page.getByLabel("Message").fill("And now?");
  await page.keyboard.press("Enter");
  await page.getByText("The second answer.").waitFor();
  await page.getByRole("link", { name: "Changes" }).click();
  await page.getByText("new line <b>bold</b>").waitFor();
  expect(await findBarriers()).toEqual([]);

  await page.getByRole("link", { name: "Agents", exact: true }).click();
  await page
    .getByRole("heading", { name: "Finished" })
    .or(page.getByRole("heading", { name: "Needs you" }))
    .waitFor();
  await page.locator('.row-status[data-status="FINISHED"]').waitFor();
  expect(await page.locator(".row .line-count").textContent()).toBe("lines added: +1lines removed: −1");
  expect(await findBarriers()).toEqual([]);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/agents/bc-*");
  expect(await page.title()).not.toBe("hacked");
  expect(complaints).toEqual([]);
});

test("a message is queued or sent into the run, sub-agents fold out, and a fork goes another way", async () => {
  const { fixture, client, repository } = await openRunHarness({
    replies: {
      replies: [
        { ...replyWith("Went the other way."), when: { bodyIncludes: "forked task" } },
        { ...replyWith("The queued answer."), when: { bodyIncludes: "queued question" } },
        { ...replyWith("Done in French."), when: { bodyIncludes: "also in French" } },
        { ...replyWith("There are **three**."), when: { bodyIncludes: "You are a counter." } },
        { ...call("exec_command", { cmd: "sleep 1" }), when: { bodyIncludes: "count the files" } },
        call("spawn_agent", { message: "count the files", agent_type: "counter" }),
      ],
      repeat: "always",
    },
  });
  const url = await repository("notes", { "notes.txt": "old line\n" });
  const { agentId, runId } = await client.create({
    ...{ prompt: { text: "How many?" }, repos: [{ url }] },
    customSubagents: [{ name: "counter", description: "Counts.", prompt: "You are a counter." }],
  });
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url));
  await page.goto(`${client.url}/agents/${agentId}`);
  await page.getByLabel("Message").fill("queued question");
  await page.keyboard.press("Enter");
  await page.getByText("Sent when this run ends:").waitFor();
  const subagent = page.locator('.subagent[data-subagent="completed"]');
  await subagent.getByRole("button").first().click();
  await subagent.getByText("There are three.").waitFor();
  await photograph(page, "running");
  expect(await findBarriers()).toEqual([]);
  await page.getByLabel("Message", { exact: true }).fill("also in French");
  await page.keyboard.press("Control+Enter");
  await page.locator(".prompt-added", { hasText: "also in French" }).waitFor();
  await page.getByText("Done in French.").waitFor();
  await page.getByText("The queued answer.").waitFor();
  await page.getByLabel("On the way").waitFor({ state: "hidden" });

  await page.locator(`#${runId}`).getByRole("link", { name: "Fork from here" }).click();
  await page.getByText(/This one stays as it is\. The fork starts with .*notes(\.git)? at [0-9a-f]{12}\./).waitFor();
  await photograph(page, "fork");
  expect(await findBarriers()).toEqual([]);
  await page.keyboard.type("forked task");
  await page.keyboard.press("Control+Enter");
  await page.getByText("Went the other way.").waitFor();
  await page.getByRole("button", { name: "Show it" }).click();
  await page.locator(".inherited", { hasText: "Done in French." }).waitFor();
  expect(await page.locator(".inherited", { hasText: "The queued answer." }).count()).toBe(0);
  await photograph(page, "forked");
  expect(await findBarriers()).toEqual([]);
  expect(complaints).toEqual([]);
});

test("three attempts at a prompt are compared, one gets a pull request and the others are archived", async () => {
  const { fixture, client, repository } = await openRunHarness({
    replies: {
      replies: [
        { ...replyWith("## Changed\n\nThe line is **new**."), when: { bodyIncludes: "Success" } },
        { ...replyWith("Changed."), when: { bodyIncludes: "+new line" } },
        call("apply_patch", { input: patch }),
      ],
      repeat: "always",
    },
  });
  await repository("notes", { "notes.txt": "old line\n" });
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url));
  await page.goto(`${client.url}/agents/new`);
  await page.getByLabel("What should it do?").fill("Change the notes");
  const add = page.getByRole("button", { name: "Add an attempt" });
  await add.click();
  await add.click();
  await page.getByLabel("Model of attempt 3").selectOption({ index: 1 });
  await photograph(page, "attempts");
  expect(await findBarriers()).toEqual([]);
  await page.getByRole("button", { name: "Start 3 agents" }).click();
  await page.waitForURL("**/compare?agents=*");
  const attempts = page.locator('.attempt[data-status="FINISHED"]');
  await expect.poll(() => attempts.count(), { timeout: 120_000 }).toBe(3);
  await expect.poll(() => page.locator(".attempt-facts a", { hasText: "1 file" }).count()).toBe(3);
  for (const width of [1440, 820, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await photograph(page, `compare-${width}`);
    await expectNoOverflow(page);
    expect(await findBarriers()).toEqual([]);
  }
  await page.getByRole("button", { name: "Open pull request" }).nth(1).click();
  await page.getByRole("dialog").getByLabel("Archive the other 2 attempts").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Open pull request" }).click();
  await page.getByLabel("Attempt 2").getByRole("link", { name: /#1/ }).waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Unarchive" }).count()).toBe(2);
  await photograph(page, "compared");
  expect(complaints).toEqual([]);
});

test("filters are part of the address, and the list shows how the last run ended", async () => {
  const { fixture, client } = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  const end = async (prompt: string, status: "ERROR" | "CANCELLED" | "FINISHED") => {
    const { agentId } = await client.create({ prompt: { text: prompt } });
    await fixture.platform.db.updateTable("runs").set({ status }).where("agent_id", "=", agentId).execute();
  };
  await end("alpha", "FINISHED");
  await end("beta", "ERROR");
  await end("gamma", "CANCELLED");
  const { page } = await visit(await loginLink(fixture.platform, client.url));
  const rows = async () =>
    (await page.locator(".row").allInnerTexts()).map((text) => text.split("\n").slice(0, 2).join(" "));
  await expect.poll(rows).toEqual(["beta Failed", "gamma Cancelled", "alpha Finished"]);
  await expect.poll(() => page.title()).toContain("(2)");
  await page.keyboard.press("/");
  await page.keyboard.type("alp");
  await expect.poll(rows).toEqual(["alpha Finished"]);
  await page.waitForURL("**/agents?q=alp");
  await page.reload();
  await expect.poll(rows).toEqual(["alpha Finished"]);
});

test("a run is followed through a lost connection and stopped: everything is there, nothing twice", async () => {
  const sleep = (cmd: string) => call("exec_command", { cmd: `${cmd}sleep 3600` });
  const script = { replies: [sleep("echo before the cut; "), sleep("")], repeat: "last" as const };
  const { fixture, client } = await openRunHarness({ replies: script });
  const proxy = await openProxy(client.url);
  const { page } = await visit(await loginLink(fixture.platform, proxy.url));
  const { agentId } = await client.create({ prompt: { text: "work" } });
  await page.goto(`${proxy.url}/agents/${agentId}`);
  const output = page.locator(".output", { hasText: "before the cut" });
  await output.waitFor();
  proxy.cut();
  await page.getByText("Reconnecting").waitFor();
  proxy.restore();
  await page.getByText("Reconnecting").waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator('.run-outcome[data-outcome="CANCELLED"]').waitFor();
  expect(await page.locator(".command", { hasText: "before the cut" }).count()).toBe(1);
  expect(await page.locator(".prompt-text").allTextContents()).toEqual(["work"]);
});

test("a teammate sees the agent without a single button that would be refused", async () => {
  const { fixture, client } = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  const { agentId } = await client.create({ prompt: { text: "look around" } });
  const { platform } = fixture;
  const owner = { kind: "user", email: "bob@x" } as const;
  await platform.principals.createKey({ name: "k", team: "default", owner, scopes: null, expiresAt: null });
  const { page } = await visit(await loginLink(platform, client.url, "bob@x"));
  await page.goto(`${client.url}/agents/${agentId}`);
  await page.getByText("This agent belongs to").waitFor();
  await page.getByText("look around").first().waitFor();
  for (const name of ["Stop", "Archive", "Send"]) expect(await page.getByRole("button", { name }).count()).toBe(0);
});

test.each([
  [390, "dark"],
  [820, "light"],
  [1440, "dark"],
] as const)("at %i pixels, %s, nothing sticks out and axe finds nothing", async (width, colorScheme) => {
  const { fixture, client } = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  const long = "averylongwordwithoutanyspace".repeat(20);
  await client.create({ prompt: { text: `${long} ${hostile}` }, name: long.slice(0, 100) });
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url), {
    width,
    colorScheme,
  });
  for (const path of ["/agents", "/agents/new", "/design"]) {
    await page.goto(`${client.url}${path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await expectNoOverflow(page);
    expect([path, await findBarriers()]).toEqual([path, []]);
    await photograph(page, `${path.slice(1).replace("/", "-")}-${width}-${colorScheme}`, { fullPage: true });
  }
  expect(await page.evaluate("document.getAnimations().length")).toBeGreaterThan(0);
  await page.emulateMedia({ reducedMotion: "reduce" });
  expect(await page.evaluate("document.getAnimations().length")).toBe(0);
  await page.goto(`${client.url}/agents`);
  await page.locator("[data-row]").click();
  await page.locator(".prompt-text").waitFor();
  await expectNoOverflow(page);
  expect(await findBarriers()).toEqual([]);
  expect(complaints).toEqual([]);
});
