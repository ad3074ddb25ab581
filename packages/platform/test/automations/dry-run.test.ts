// A dry run in a network namespace of its own: it says what would start, and sends not one packet.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { storeDelivery } from "../../src/automations/inbound/deliveries.ts";
import { insertSource } from "../../src/automations/inbound/store.ts";
import { teamKey } from "../../src/foundation/vault/index.ts";
import { programsOfTests } from "../harness/bundled.ts";
import { type AutomationHarness, openAutomationHarness } from "./automation-harness.ts";

const bundled = programsOfTests();

const repository = { id: 1, html_url: "https://github.com/acme/shop" };
const opened = (number: number, headRepository: number) => ({
  ...{ action: "opened", repository },
  pull_request: {
    ...{ number, html_url: `${repository.html_url}/pull/${number}`, title: "Fix it", body: "" },
    ...{ head: { ref: "topic", repo: { id: headRepository } }, base: { ref: "main", repo: { id: 1 } } },
  },
});

interface Seen {
  looked: number;
  outcomes: string[];
  packets: number;
}

async function runIsolated({ fixture }: AutomationHarness, task: { automationId: string; attempt: boolean }) {
  const program = await bundled("automations/dry-run-child.ts");
  const { dataDirectory } = fixture.platform.settings;
  const child = spawn(
    "unshare",
    [
      ...["--user", "--map-root-user", "--net", "--", process.execPath, program],
      JSON.stringify({ ...task, databaseUrl: fixture.databaseUrl, dataDirectory }),
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  expect(code, `unshare ended with ${code} and the output: ${output}`).toBe(0);
  return JSON.parse(output) as Seen;
}

test("a dry run of stored events sends not one packet, where a request of the same process is counted", async () => {
  const harness = await openAutomationHarness("2026-03-02T08:00:00Z");
  const { platform, principal } = harness.fixture;
  const { db, vault } = platform;
  const { id: automationId } = await harness.create({
    triggers: [{ type: "github", event: "pull_request.opened", repos: [repository.html_url] }],
    target: { type: "repo", repoUrl: repository.html_url },
    tools: { createPullRequest: true, commentOnPullRequest: { enabled: true, allowApprovals: true } },
  });
  const key = await teamKey(db, vault, principal.teamId);
  const { source } = await insertSource(db, { teamId: principal.teamId, name: "shop", key });
  for (const [deliveryId, payload] of Object.entries({ one: opened(1, 1), fork: opened(2, 2) }))
    await storeDelivery(
      db,
      { source, deliveryId, name: "pull_request", key, body: Buffer.from(JSON.stringify(payload)) },
      null,
    );
  const outcomes = ["skip", "start"];
  expect(await runIsolated(harness, { automationId, attempt: false })).toEqual({ looked: 2, outcomes, packets: 0 });
  expect((await runIsolated(harness, { automationId, attempt: true })).packets).toBeGreaterThan(0);
  expect(await harness.firings({ id: automationId })).toEqual([]);
});
