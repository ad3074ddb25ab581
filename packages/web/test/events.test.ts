// The events of a run in a browser: as its stream carries them, for each run, and live; and a run all of whose texts attack.
import { call, type Reply, replyWith } from "@agentcli/testkit";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { loginLink } from "../../platform/src/pages/index.ts";
import { openRunHarness } from "../../platform/test/runs/run-harness.ts";
import { expectNoOverflow, findOverflow, photograph, startChromium, tabTo, visit } from "./chromium.ts";
import { hostileTexts } from "./hostile-texts.ts";

startChromium();

test("the events tab shows the events of a run in their order, by type, whole by keyboard, and those of a new run live", async () => {
  const { fixture, client } = await openRunHarness({
    settings: { streamRetentionSeconds: 3_600 },
    replies: {
      replies: [
        call("exec_command", { cmd: "echo '<b>one</b>'" }),
        replyWith("Done."),
        call("exec_command", { cmd: "echo two; sleep 3600" }),
        call("exec_command", { cmd: "sleep 3600" }),
      ],
      repeat: "last",
    },
  });
  const { agentId, runId } = await client.create({ prompt: { text: "work" } });
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url));
  await page.goto(`${client.url}/agents/${agentId}`);
  await page.locator('.run-outcome[data-outcome="FINISHED"]').waitFor();
  const stream = await client.streamText({ agentId, runId });
  const sent = [...stream.matchAll(/^event: (\w+)$/gm)].map(([, type]) => type);
  const kept = sent.filter((type) => type !== "heartbeat");
  expect(kept.at(-1)).toBe("done");

  await tabTo(page, page.getByRole("link", { name: "Events" }));
  await page.keyboard.press("Enter");
  const shown = () => page.locator(".event-name").allTextContents();
  await expect.poll(shown).toEqual(kept);
  await page.getByText(`${kept.length} events`, { exact: true }).waitFor();
  await page.getByLabel("Type").selectOption("tool_call");
  await expect.poll(shown).toEqual(kept.filter((type) => type === "tool_call"));
  expect(new URL(page.url()).searchParams.get("type")).toBe("tool_call");
  await tabTo(page, page.locator("summary").last());
  await page.keyboard.press("Enter");
  await page.getByText('"stdout": "<b>one</b>\\n"').waitFor();
  expect(await findBarriers()).toEqual([]);
  await photograph(page, "events-1440");
  await page.setViewportSize({ width: 390, height: 800 });
  await expectNoOverflow(page);
  await photograph(page, "events-390");
  await page.reload();
  await expect.poll(shown).toEqual(kept.filter((type) => type === "tool_call"));

  await client.send("POST", `/v1/agents/${agentId}/runs`, { prompt: { text: "again" } });
  await page.getByLabel("Run").selectOption({ label: "2: again" });
  await page.getByLabel("Type").selectOption("interaction_update");
  await page.locator(".event", { hasText: "two" }).first().waitFor();
  await page.getByText(/ events?, live/).waitFor();
  expect(complaints).toEqual([]);
});

const all = hostileTexts.join("\n");
/** Names that a file can have. */
const fileNames = hostileTexts
  .filter((text) => !/[/\p{C}\p{Zl}\p{Zp}']/u.test(text) && text.trim() === text)
  .slice(0, 30);

/** Thinking, commands, output with escape sequences, edits, plans, failed calls, files and a result, all of the same texts. */
const attack: Reply[] = [
  {
    reasoning: { summary: [all] },
    messages: [hostileTexts.slice(0, 50).join("\n\n")],
    calls: [{ name: "exec_command", arguments: { cmd: "cat hostile.txt; exit 3" } }],
  },
  call("exec_command", { cmd: `cat > /dev/null <<'END'\n${all}\nEND` }),
  call("apply_patch", {
    input: `*** Begin Patch\n${fileNames.map((name) => `*** Add File: ${name}\n+${name}`).join("\n")}\n*** End Patch`,
  }),
  call("apply_patch", {
    input: `*** Begin Patch\n*** Update File: old.txt\n@@\n-old line\n${hostileTexts.map((text) => `+${text.replaceAll("\n", " ")}`).join("\n")}\n*** End Patch`,
  }),
  call("update_plan", { plan: hostileTexts.slice(0, 20).map((step) => ({ step, status: "pending" })) }),
  call("read_file", { path: hostileTexts[0] ?? "" }),
  call("exec_command", {
    cmd: `${fileNames.map((name) => `cp hostile.txt '../.artifacts/${name}.md'`).join(" && ")}; cp hostile.txt ../.artifacts/a.svg`,
  }),
  replyWith(hostileTexts.join("\n\n")),
];

/** Everything that can be opened is open; of events, which are many, the first ones. */
async function openAll(page: Page): Promise<void> {
  for (const selector of [".step-line[aria-expanded='false']", ".file-toggle[aria-expanded='false']"])
    await page.evaluate(`document.querySelectorAll(${JSON.stringify(selector)}).forEach((one) => one.click())`);
  await page.evaluate("[...document.querySelectorAll('details')].slice(0, 12).forEach((one) => (one.open = true))");
  const shows = page.getByRole("button", { name: /^Show / });
  for (let count = await shows.count(); count > 0; count -= 1) await shows.nth(count - 1).click();
}

/** Eight pages, three widths each. */
const timeout = 600_000;

test("the events of a run that ended without a last event end too, instead of reconnecting for ever", async () => {
  const { fixture, client } = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  const { agentId } = await client.create({ prompt: { text: "work" } });
  await fixture.platform.db.updateTable("runs").set({ status: "ERROR", ended_at: new Date() }).execute();
  const { page } = await visit(await loginLink(fixture.platform, client.url));
  await page.goto(`${client.url}/agents/${agentId}/events`);
  await page.locator("[data-event='error']").waitFor();
  await expect.poll(() => page.getByRole("status").allTextContents()).toContain("2 events");
});

test("a transcript of texts of attackers stays text on every tab: nothing runs, nothing sticks out, axe finds nothing", {
  timeout,
}, async () => {
  expect(hostileTexts.length).toBeGreaterThanOrEqual(100);
  expect(fileNames.length).toBeGreaterThanOrEqual(20);
  const { fixture, client, repository } = await openRunHarness({
    settings: { streamRetentionSeconds: 3_600 },
    replies: attack,
  });
  const url = await repository("notes", { "hostile.txt": all, "old.txt": "old line\n" });
  const { agentId, runId } = await client.create({ prompt: { text: all }, repos: [{ url }], autoCreatePR: true });
  expect(await client.waitForRun({ agentId, runId })).toMatchObject({ status: "FINISHED" });
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url));
  await page.goto(`${client.url}/agents/${agentId}`);
  await page.locator('.run-outcome[data-outcome="FINISHED"]').waitFor();
  const pull = await page.locator(".agent-facts a.pull").getAttribute("href");
  const tabs = ["", "/changes", "/files", "/events", "/usage", "/waits"].map((tab) => `/agents/${agentId}${tab}`);
  for (const path of [...tabs, pull ?? "", "/repositories/notes/commits"]) {
    await page.goto(`${client.url}${path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.locator(".skeleton").first().waitFor({ state: "detached" });
    if (path.endsWith("/changes")) await page.locator(".file").first().waitFor();
    if (path.endsWith("/events")) await page.locator(".event").first().waitFor();
    await openAll(page);
    for (const [width, colorScheme] of [
      [390, "dark"],
      [820, "light"],
      [1440, "dark"],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      expect([width, path, await findOverflow(page)]).toEqual([width, path, 0]);
      await photograph(page, `hostile${path.replaceAll(/[/]|bc-[0-9a-f-]+/g, "_")}-${width}`);
    }
    // On thousands of lines of diffs axe takes minutes; other tests run it there.
    if (!/changes|pulls/.test(path)) expect([path, await findBarriers()]).toEqual([path, []]);
    if (path.endsWith("/files")) expect(await page.locator(".file-entry").count()).toBe(fileNames.length + 1);
    expect([path, await page.evaluate("window.attacked ?? null"), await page.title()]).toEqual([
      path,
      null,
      expect.not.stringMatching(/^hacked/),
    ]);
    expect([
      path,
      await page.locator("main :is(script, iframe, object, embed, style, base, form[action])").count(),
    ]).toEqual([path, 0]);
    expect([path, await page.locator("main a[href^='javascript' i], main a[href^='data' i]").count()]).toEqual([
      path,
      0,
    ]);
  }
  expect(complaints).toEqual([]);

  const owner = { kind: "user", email: "bob@x" } as const;
  await fixture.platform.principals.createKey({ name: "k", team: "default", owner, scopes: null, expiresAt: null });
  const { page: theirs } = await visit(await loginLink(fixture.platform, client.url, "bob@x"));
  const steps = (one: Page) => one.locator(".step-line");
  for (const one of [page, theirs]) {
    await one.setViewportSize({ width: 1440, height: 900 });
    await one.goto(`${client.url}/agents/${agentId}`);
    await one.locator('.run-outcome[data-outcome="FINISHED"]').waitFor();
    // The result comes before the steps.
    await steps(one).first().waitFor();
  }
  await expect.poll(async () => (await steps(page).count()) - (await steps(theirs).count())).toBe(0);
  const transcriptOn = async (one: Page) => {
    await openAll(one);
    await one.locator(".step-line[aria-expanded='false']").first().waitFor({ state: "detached" });
    return one.locator(".items").allInnerTexts();
  };
  const transcript = await transcriptOn(page);
  expect(transcript.join("").length).toBeGreaterThan(10_000);
  expect(await transcriptOn(theirs)).toEqual(transcript);
});
