// The events of a run in a browser: as its stream carries them, for each run, and live.
import { call, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { loginLink } from "../../platform/src/pages/index.ts";
import { openRunHarness } from "../../platform/test/runs/run-harness.ts";
import { expectNoOverflow, photograph, startChromium, tabTo, visit } from "./chromium.ts";

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
