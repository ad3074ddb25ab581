// Firings whose runs only propose: when they start, and what a back-test does with an event that cannot be read.
import { expect, onTestFinished, test } from "vitest";
import { startBacktests } from "../../src/automations/backtests/replay.ts";
import { requestBacktest, showBacktest } from "../../src/automations/backtests/store.ts";
import { recordHostEvent } from "../../src/automations/inbound/own-host.ts";
import { claimNodeId, describeNode } from "../../src/foundation/db/index.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { version } from "../../src/foundation/version.ts";
import { openAutomationHarness } from "./automation-harness.ts";

const hourly = { triggers: [{ type: "cron", cron: "@hourly" }] };

test("a shadow run waits while a runner of another version works, and one with effects does not", async () => {
  const harness = await openAutomationHarness("2026-05-01T09:30:00Z");
  const { db, connection } = harness.fixture.platform;
  const node = await claimNodeId(connection, silentLog);
  onTestFinished(() => node.release());
  const describe = (ofVersion: string) =>
    describeNode(db, node.id, { roles: ["runner"], version: ofVersion, address: "http://127.0.0.1:1" });
  await describe("0.0.1");
  const shadow = await harness.create({ ...hourly, name: "shadow", shadow: true });
  const usual = await harness.create({ ...hourly, name: "usual" });
  for (let minute = 0; minute < 16; minute += 2) {
    harness.setClock(`2026-05-01T10:${String(minute).padStart(2, "0")}:00Z`);
    await harness.look();
  }
  const reason = "Waits until all servers with the role runner have the same version.";
  expect((await harness.firings(shadow))[0]).toMatchObject({ status: "planned", reason });
  expect((await harness.firings(usual))[0]).toMatchObject({ status: "started" });
  await describe(version);
  await harness.look();
  const [firing] = await harness.firings(shadow);
  expect(firing).toMatchObject({ status: "started" });
  expect(firing).not.toHaveProperty("reason");
  expect(await harness.countRuns()).toBe(2);
});

test("a back-test replays the other events where one cannot be read, and says so", async () => {
  const harness = await openAutomationHarness("2026-05-01T09:30:00Z");
  const { host, fixture } = harness;
  const { db, vault } = fixture.platform;
  const url = "https://github.com/acme/shop";
  const automation = await harness.create({ triggers: [{ type: "github", event: "push", repos: [url] }] });
  const payload = { ref: "refs/heads/main", repository: { html_url: url } };
  for (const name of ["push", "status"] as const)
    await recordHostEvent(vault)(db, { teamId: fixture.principal.teamId, name, payload });
  await db
    .updateTable("inbound_events")
    .set({ body: Buffer.alloc(64) })
    .where("name", "=", "status")
    .execute();
  const row = await requestBacktest(fixture.platform, automation, { last: 5, createdBy: "test" });
  await startBacktests(host);
  const query = db.selectFrom("automation_backtests").selectAll().where("id", "=", row.id);
  const { items } = await showBacktest(fixture.platform, automation, await query.executeTakeFirstOrThrow());
  expect(items).toHaveLength(2);
  expect(items.find(({ event }) => event === "status")).toMatchObject({
    ...{ outcome: "skip", reason: "The event could not be read; the server's log has the reason." },
  });
});
