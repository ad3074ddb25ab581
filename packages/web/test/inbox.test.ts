// The inbox, the command palette and the keys, in a real browser.
import { replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { loginLink } from "../../platform/src/pages/index.ts";
import { openRunHarness, type RunHarness } from "../../platform/test/runs/run-harness.ts";
import { startChromium, visit } from "./chromium.ts";

startChromium();

/** Agents whose last run has ended, and an automation that was disabled. */
async function openWithItems(): Promise<RunHarness> {
  const harness = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  const { fixture, client } = harness;
  const { db } = fixture.platform;
  const end = async (name: string, status: "FINISHED" | "ERROR" | "CANCELLED") => {
    const { agentId } = await client.create({ prompt: { text: "work" }, name });
    const at = new Date();
    await db.updateTable("runs").set({ status, ended_at: at }).where("agent_id", "=", agentId).execute();
  };
  await end("Write the parser", "FINISHED");
  await end("Fix the build", "ERROR");
  await end("Stopped by hand", "CANCELLED");
  const automation = { name: "Nightly", prompt: { text: "look" }, triggers: [{ type: "webhook" }] };
  const { bytes } = await client.send("POST", "/v1/automations", automation);
  await db
    .insertInto("automation_alerts")
    .values({
      id: "alert-1",
      automation_id: JSON.parse(bytes.toString()).id,
      firing_id: null,
      kind: "limit_reached",
      message: "The limit of this hour is reached.",
      created_at: new Date(),
    })
    .execute();
  return harness;
}

test("the inbox shows what needs a person, counts it in the title, and keeps what was marked by hand", async () => {
  const { fixture, client } = await openWithItems();
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url));
  const answers = new Set<number>();
  page.on("response", (response) => {
    if (response.url().endsWith("/v1/me/inbox") && response.request().method() === "GET")
      answers.add(response.status());
  });
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await page.waitForURL("**/inbox");
  const unread = async () =>
    (await page.locator('[data-item][data-unread="true"] .row-name').allTextContents()).join(", ");
  await expect.poll(unread).toBe("Nightly, Fix the build, Write the parser");
  await expect.poll(() => page.title()).toBe("(3) Inbox · platform");
  await page.getByText("The limit of this hour is reached.").waitFor();
  expect(await findBarriers()).toEqual([]);

  // Looking at an agent reads its item; by hand it becomes unread again, and stays so after a reload.
  await page.getByRole("link", { name: "Write the parser" }).click();
  await page.locator(".prompt-text").waitFor();
  await expect.poll(() => page.title()).toContain("(2) ");
  await page.goBack();
  await expect.poll(unread).toBe("Nightly, Fix the build");
  await page.locator(".row", { hasText: "Write the parser" }).getByLabel("Mark as unread").click();
  await expect.poll(unread).toBe("Nightly, Fix the build, Write the parser");
  await page.reload();
  await expect.poll(unread).toBe("Nightly, Fix the build, Write the parser");

  // j moves, e is done, and that can be undone.
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("e");
  await expect.poll(unread).toBe("Nightly, Write the parser");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("link", { name: "Fix the build" }).waitFor();
  await page.getByRole("button", { name: "Mark all as read" }).click();
  await expect.poll(() => page.title()).toBe("Inbox · platform");
  // While nothing changes, the page asks without getting the content again.
  await expect.poll(() => [...answers].toSorted()).toEqual([200, 304]);
  expect(complaints).toEqual([]);
});

test("an inbox that has not changed is answered without content, and every change with it", async () => {
  const { fixture, client } = await openWithItems();
  const read = async (tag: string) => {
    const headers = { authorization: `Bearer ${client.key}`, "if-none-match": tag };
    const response = await fetch(`${client.url}/v1/me/inbox`, { headers });
    const body = await response.text();
    return { status: response.status, tag: response.headers.get("etag") ?? "", body };
  };
  const first = await read("");
  expect(first.status).toBe(200);
  expect(await read(first.tag)).toEqual({ status: 304, tag: first.tag, body: "" });
  const { items } = JSON.parse(first.body) as {
    items: { id: string; agent?: { id: string }; automationId?: string }[];
  };
  const { automationId } = items.find((item) => item.automationId) ?? expect.fail("no alert");
  const { id: runId, agent } = items.find((item) => item.agent) ?? expect.fail("no agent");
  const agentId = agent?.id ?? "";
  const { db } = fixture.platform;
  const handoff = {
    ...{ agent_id: agentId, run_id: runId, state: "done" as const, repo_url: "git.example.com/o/r" },
    ...{ branch: "b", base_branch: "main", base_commit: "0".repeat(40), pushed_commit: "1".repeat(40) },
  };
  const changes: Record<string, () => Promise<unknown>> = {
    "a mark": () => client.send("PATCH", "/v1/me/inbox", { items: [items[0]?.id], state: "read" }),
    "a run": () => db.updateTable("runs").set({ status: "EXPIRED" }).where("agent_id", "=", agentId).execute(),
    "a branch": () => db.insertInto("handoffs").values(handoff).execute(),
    "the name of an automation": () => client.send("PATCH", `/v1/automations/${automationId}`, { name: "Weekly" }),
    "an alert": () => db.deleteFrom("automation_alerts").execute(),
    "an archived agent": () => client.send("POST", `/v1/agents/${agentId}/archive`),
  };
  let { tag } = first;
  for (const [name, change] of Object.entries(changes)) {
    await change();
    const next = await read(tag);
    expect([name, next.status]).toEqual([name, 200]);
    tag = next.tag;
  }
});

test("a mark that the server refuses is taken back with the reason", async () => {
  const { fixture, client } = await openWithItems();
  const { page } = await visit(await loginLink(fixture.platform, client.url));
  await page.goto(`${client.url}/inbox`);
  const row = page.locator(".row", { hasText: "Fix the build" });
  await row.waitFor();
  await page.route("**/v1/me/inbox", (route) =>
    route.request().method() === "PATCH"
      ? route.fulfill({ status: 403, json: { error: { code: "forbidden", message: "Not today." } } })
      : route.continue(),
  );
  await row.getByLabel("Done").click();
  await page.getByText("Not today.").waitFor();
  await row.waitFor();
});

test("the palette finds pages, agents and actions by keyboard alone; ? lists the keys", async () => {
  const { fixture, client } = await openWithItems();
  const { page, findBarriers } = await visit(await loginLink(fixture.platform, client.url));
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search pages" }).waitFor();
  expect(await findBarriers()).toEqual([]);
  await page.keyboard.type("parser");
  await page.getByRole("option", { name: "Write the parser" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/agents/bc-*");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search pages" }).waitFor();
  await page.keyboard.type("usage");
  await page.getByRole("option", { name: "Usage" }).first().waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/usage");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("sessions");
  await page.getByRole("option", { name: "Your sessions" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/sessions");
  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor();
  expect(await findBarriers()).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor({ state: "detached" });
});

test("an empty platform leads to the first agent: the model is asked, the repository is found", async () => {
  const { fixture, client, repository } = await openRunHarness({ replies: [replyWith("ready")] });
  const { page, findBarriers } = await visit(await loginLink(fixture.platform, client.url));
  const step = (title: string) => page.locator(".step-card", { hasText: title });
  await step("Check the model").getByRole("button", { name: "Check now" }).click();
  await page.getByText("scripted answers.").waitFor();
  await repository("first", { "a.txt": "a\n" });
  await page.getByText("Agents can work on").waitFor();
  expect(await page.locator('.step-card[data-done="true"]').count()).toBe(2);
  expect(await findBarriers()).toEqual([]);
  await page.getByRole("link", { name: "Start the first one" }).click();
  await page.waitForURL("**/agents/new");
});
