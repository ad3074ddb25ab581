// The inbox, the command palette and the keys, in a real browser.
import type { Build, Firing } from "@agentcli/protocol/api";
import { call, replyWith } from "@agentcli/testkit";
import { openClient } from "@agentcli/testkit/platform";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openAdministration } from "../../platform/src/identity/principals/index.ts";
import { makeLoginLink } from "../../platform/src/identity/sessions/index.ts";
import { loginLink } from "../../platform/src/pages/index.ts";
import { openEnvironmentHarness } from "../../platform/test/environments/environment-harness.ts";
import { openRunHarness, type RunHarness } from "../../platform/test/runs/run-harness.ts";
import { expectNoOverflow, photograph, startChromium, type VisitorOptions, visit } from "./chromium.ts";

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

/** Two drafts that a member asked for, and an automation of the team that proposed something in shadow mode. */
async function openDecisions() {
  const done = { messages: ["done"], when: { bodyIncludes: "Recorded as a proposal" } };
  const replies = [done, call("mcp__platform__write_memory", { text: "seen" })];
  const harness = await openEnvironmentHarness({ replies });
  const { client, fixture } = harness;
  const { db, vault, principals } = fixture.platform;
  const owner = { kind: "user", email: "member@example.com" } as const;
  const { key } = await principals.createKey({ name: "m", team: "default", owner, scopes: null, expiresAt: null });
  const second = { email: "second@example.com", team: "default", role: "admin" } as const;
  await openAdministration(db, vault).createUser(second);
  const { id } = await harness.create("shop");
  await harness.ended((await harness.builds(id))[0] ?? expect.fail("there is no build"));
  const draft = async () => {
    const answer = await openClient(client.url, key).post(`/v1/environments/${id}/builds`, { draft: true });
    return harness.ended(answer.body as Build);
  };
  const drafts = [await draft(), await draft()] as const;
  const watch = await client.post("/v1/automations", {
    ...{ name: "Watch the queue", scope: "team_owned", shadow: true, prompt: { text: "look" } },
    triggers: [{ type: "webhook" }],
  });
  const { id: automationId } = watch.body as { id: string };
  const firing = (await client.post(`/v1/automations/${automationId}/run`)).body as Firing;
  await client.waitForRun({ agentId: firing.agentId ?? "", runId: firing.runId ?? "" });
  const logIn = async (email: string, options: VisitorOptions = {}) => {
    const user = await db.selectFrom("users").select("id").where("email", "=", email).executeTakeFirstOrThrow();
    const visitor = await visit(await makeLoginLink(db, user.id, client.url), options);
    await visitor.page.goto(`${client.url}/inbox`);
    return visitor;
  };
  return { harness, client, environmentId: id, drafts, automationId, logIn };
}

const row = (page: Page, id: string) => page.locator(`[data-item="${id}"]`);

test("decisions are made in the inbox, and leave that of another administrator at once; a member has none", async () => {
  const { harness, client, environmentId, drafts, automationId, logIn } = await openDecisions();
  const [first, second] = drafts;
  const [one, other] = [await logIn("admin@localhost"), await logIn("second@example.com")];
  await row(one.page, first.id).waitFor();
  await row(other.page, first.id).waitFor();
  expect(await one.page.title()).toBe("(3) Inbox · platform");
  await row(one.page, first.id).getByText("requested by member@example.com").waitFor();
  expect(await one.findBarriers()).toEqual([]);
  await (await logIn("member@example.com")).page.getByText("Nothing needs you").waitFor();

  // It asks first; Escape keeps the draft.
  await row(one.page, first.id).getByRole("button", { name: "Discard" }).click();
  await one.page.getByRole("dialog").getByText("It can never be activated then.").waitFor();
  expect(await one.findBarriers()).toEqual([]);
  await one.page.keyboard.press("Escape");
  await one.page.getByRole("dialog").waitFor({ state: "detached" });
  await row(one.page, first.id).getByRole("button", { name: "Discard" }).click();
  await one.page.getByRole("dialog").getByRole("button", { name: "Discard" }).click();
  await one.page.getByText("Discarded: shop").waitFor();
  for (const { page } of [one, other]) await row(page, first.id).waitFor({ state: "detached" });

  // The page of the other one still shows what is decided already: it says so, and shows what is so now.
  await other.page.route("**/v1/me/inbox", (route) =>
    route.request().method() === "GET" ? route.abort() : route.continue(),
  );
  await row(one.page, second.id).getByRole("button", { name: "Activate" }).click();
  await one.page.getByText("Activated: shop").waitFor();
  await row(other.page, second.id).getByRole("button", { name: "Discard" }).click();
  await other.page.getByRole("dialog").getByRole("button", { name: "Discard" }).click();
  await other.page.getByText("it is not a draft that has succeeded").waitFor();
  await other.page.unroute("**/v1/me/inbox");
  await row(other.page, second.id).waitFor({ state: "detached" });
  expect(await harness.active(environmentId)).toBe(second.id);
  await one.page.goto(`${client.url}/environments/${environmentId}`);
  await one.page.locator(`[data-build="${first.id}"]`).getByText("Discarded draft").waitFor();
  expect(await one.page.locator(`[data-build="${first.id}"]`).getByRole("button").count()).toBe(0);

  const item = other.page.locator(".row", { hasText: "Watch the queue" });
  await item.getByText("Proposed: write memory.").waitFor();
  await item.getByRole("button", { name: "Let it act" }).click();
  await other.page.getByRole("dialog").getByRole("button", { name: "Let it act" }).click();
  await other.page.getByText("Acts from now on: Watch the queue").waitFor();
  await item.waitFor({ state: "detached" });
  expect(await client.getJson(`/v1/automations/${automationId}`)).toMatchObject({ shadow: false });
  expect([...one.complaints, ...other.complaints]).toEqual([]);
});

test("decisions fit into phones and wide windows, light and dark, and looking at a draft reads its item", async () => {
  const { drafts, logIn } = await openDecisions();
  for (const colorScheme of ["light", "dark"] as const) {
    const { page, findBarriers } = await logIn("admin@localhost", { colorScheme });
    await row(page, drafts[0].id).waitFor();
    for (const width of [390, 820, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await expectNoOverflow(page);
      expect(await findBarriers()).toEqual([]);
      await photograph(page, `inbox-decisions-${colorScheme}-${width}`);
    }
  }
  const { page, findBarriers } = await logIn("second@example.com");
  await row(page, drafts[0].id).getByRole("link", { name: "shop" }).click();
  await page.getByRole("button", { name: "Discard" }).waitFor();
  await expect.poll(() => page.title()).toContain("(2) ");
  expect(await findBarriers()).toEqual([]);
  await photograph(page, "build-draft-1440");
  await page.getByRole("button", { name: "Discard" }).click();
  await photograph(page, "build-discard-1440");
  await page.getByRole("dialog").getByRole("button", { name: "Discard" }).click();
  await page.getByText("Discarded draft").waitFor();
  expect(await page.getByRole("button", { name: "Activate" }).count()).toBe(0);
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
