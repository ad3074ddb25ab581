// A burst of events with duplicates, in any order, some repeated later and some caused by the automation itself, while the
// process is killed at its writes: each event is handled once, in bounded memory, and no team waits for another's.
// 150 events and a sample of the writes here; 10,000 and all writes with SWEEP=full.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { CreateAutomation } from "@agentcli/protocol/api";
import { expect, test } from "vitest";
import { storeDelivery } from "../../src/automations/inbound/deliveries.ts";
import { type EventSourceRow, insertSource } from "../../src/automations/inbound/store.ts";
import { type AutomationRow, insertAutomation } from "../../src/automations/store.ts";
import { turnLength } from "../../src/automations/turns.ts";
import { teamKey } from "../../src/foundation/vault/index.ts";
import { programsOfTests } from "../harness/bundled.ts";
import { type AutomationHarness, openAutomationHarness } from "./automation-harness.ts";

const bundled = programsOfTests();

const isFull = process.env.SWEEP === "full";
const eventCount = isFull ? 10_000 : 150;
const now = "2026-03-02T08:00:00Z";
const repository = "https://github.com/acme/shop";
const maxMemoryMb = 400;

interface Delivery {
  id: string;
  name: string;
  payload: object;
}

const opened = (number: number): Delivery => ({
  id: `opened-${number}`,
  name: "pull_request",
  payload: {
    ...{ action: "opened", repository: { id: 1, html_url: repository } },
    pull_request: {
      ...{ number, html_url: `${repository}/pull/${number}`, title: "Fix it", body: "x".repeat(2_000) },
      ...{ head: { ref: "topic", repo: { id: 1 } }, base: { ref: "main", repo: { id: 1 } } },
    },
  },
});

const commentOfAgent = (number: number, agentId: string): Delivery => ({
  id: `comment-${number}`,
  name: "issue_comment",
  payload: {
    ...{ action: "created", repository: { id: 1, html_url: repository } },
    comment: { body: `done\n\n<!-- agent:${agentId} -->` },
    issue: { number: 1, html_url: `${repository}/pull/1`, pull_request: {} },
  },
});

interface Team {
  source: EventSourceRow;
  automation: AutomationRow;
}

async function openTeam(harness: AutomationHarness, name: string): Promise<Team> {
  const { principals, db, vault } = harness.fixture.platform;
  const owner = { kind: "user", email: `${name}@example.com` } as const;
  const { id } = await principals.createKey({ name: "k", team: name, owner, scopes: null, expiresAt: null });
  const user = await principals.find(id);
  if (user?.kind !== "user") return expect.fail("no user");
  const key = await teamKey(db, vault, user.teamId);
  const { source } = await insertSource(db, { teamId: user.teamId, name, key });
  const events = ["pull_request.opened", "pull_request.comment"];
  const definition = CreateAutomation.parse({
    ...{ name, prompt: { text: "look" }, limits: { concurrent: 1, whenBusy: "drop" } },
    triggers: events.map((event) => ({ type: "github", event, repos: [repository] })),
  });
  const owned = { ...definition, teamId: user.teamId, userId: user.userId, key };
  const automation = await db.transaction().execute((tx) => insertAutomation(tx, owned, new Date(now)));
  return { source, automation };
}

async function send({ fixture }: AutomationHarness, { source }: Team, { id, name, payload }: Delivery): Promise<void> {
  const { db, vault } = fixture.platform;
  const key = await teamKey(db, vault, source.team_id);
  const body = Buffer.from(JSON.stringify(payload));
  await storeDelivery(db, { source, deliveryId: id, name, key, body }, null);
}

interface ChildEnd {
  memoryMb: number;
  isKilled: boolean;
}

async function runChild({ fixture }: AutomationHarness, killAt = 0, log = ""): Promise<ChildEnd> {
  const program = await bundled("automations/burst-child.ts");
  const { dataDirectory } = fixture.platform.settings;
  const task = JSON.stringify({ databaseUrl: fixture.databaseUrl, dataDirectory, now });
  const preload = join(import.meta.dirname, "../harness/kill-at-step.cjs");
  const child = spawn(process.execPath, ["--require", preload, program, task], {
    env: { ...process.env, KILL_AT: String(killAt), ...(log && { KILL_LOG: log }) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<boolean>((resolve) => child.on("close", (_code, signal) => resolve(signal === "SIGKILL")));
  const printed = await text(child.stdout);
  return { memoryMb: Number(printed), isKilled: await ended };
}

/** The same at each run. */
function shuffle<T>(items: T[]): T[] {
  let seed = 20_260_302;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((left, right) => left.at - right.at)
    .map(({ item }) => item);
}

/** How each event of the team was handled: `<delivery> <status>`, one for each record. */
async function recordsOf({ fixture }: AutomationHarness, { automation }: Team): Promise<string[]> {
  const rows = await fixture.platform.db
    .selectFrom("automation_firings")
    .select(["dedupe_key", "status"])
    .where("automation_id", "=", automation.id)
    .execute();
  return rows.map(({ dedupe_key, status }) => `${dedupe_key?.split(" ")[2]} ${status}`);
}

/** Writes of the pipeline for the first events; a seeded sample of them unless all are swept. */
function killPoints(steps: string[]): number[] {
  const writes = steps.flatMap((step, index) => (/insert|update|commit/i.test(step) ? [index + 1] : []));
  return isFull ? writes : writes.filter((_point, index) => index % Math.ceil(writes.length / 4) === 2);
}

test("a burst with duplicates, repetitions and kills at writes is handled once for each event, in turns of the teams", {
  timeout: 3_600_000,
}, async () => {
  const harness = await openAutomationHarness(now);
  const { db } = harness.fixture.platform;
  const [busy, quiet] = [await openTeam(harness, "busy"), await openTeam(harness, "quiet")];
  await send(harness, busy, opened(1));
  const log = join(harness.fixture.platform.settings.dataDirectory, "steps");
  await runChild(harness, 0, log);
  const points = killPoints(readFileSync(log, "utf8").trim().split("\n"));
  const [first] = await harness.firings(busy.automation);
  const deliveries = Array.from({ length: eventCount }, (_, index) =>
    index % 10 === 0 ? commentOfAgent(index, first?.agentId ?? "") : opened(index + 2),
  );
  const burst = shuffle([...deliveries, ...deliveries.slice(0, eventCount / 3)]);
  for (const delivery of burst) await send(harness, busy, delivery);
  const late = [opened(901), opened(902), opened(903)];
  for (const delivery of late) await send(harness, quiet, delivery);

  for (const point of points) expect((await runChild(harness, point)).isKilled).toBe(true);
  const { memoryMb } = await runChild(harness);
  expect(memoryMb).toBeLessThan(maxMemoryMb);

  const order = await db
    .selectFrom("inbound_events")
    .select("source_id")
    .where("status", "=", "processed")
    .orderBy("processed_at")
    .execute();
  const lastOfQuiet = order.findLastIndex(({ source_id }) => source_id === quiet.source.id);
  // Each process that was killed has begun a turn of the busy team anew.
  expect(lastOfQuiet).toBeLessThan((points.length + 2) * turnLength + late.length);
  for (const delivery of burst.slice(0, 50)) await send(harness, busy, delivery);
  await runChild(harness);
  const expected = [...deliveries.map(({ id }) => id), "opened-1"].toSorted();
  const records = await recordsOf(harness, busy);
  expect(records.map((record) => record.split(" ")[0]).toSorted()).toEqual(expected);
  expect(records.filter((record) => !record.endsWith("skipped"))).toEqual(["opened-1 started"]);
  const own = (await harness.firings(busy.automation)).filter(({ reason = "" }) =>
    reason.includes("caused this event"),
  );
  expect(own).toHaveLength(eventCount / 10);
  expect((await recordsOf(harness, quiet)).map((record) => record.split(" ")[0]).toSorted()).toEqual([
    ...["opened-901", "opened-902", "opened-903"],
  ]);
  expect(await harness.countRuns()).toBe(2);
});
