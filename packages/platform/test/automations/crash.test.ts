// Kills the scheduler at each query and starts it again: each firing has one record and at most one run.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sampleOf } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { programsOfTests } from "../harness/bundled.ts";
import { type AutomationHarness, openAutomationHarness } from "./automation-harness.ts";

const bundled = programsOfTests();

const now = "2026-05-01T11:00:30Z";

async function runChild({ fixture }: AutomationHarness, killAt: number, log: string): Promise<string | number | null> {
  const program = await bundled("automations/crash-child.ts");
  const { dataDirectory } = fixture.platform.settings;
  const task = JSON.stringify({ databaseUrl: fixture.databaseUrl, dataDirectory, now });
  const preload = join(import.meta.dirname, "../harness/kill-at-step.cjs");
  const child = spawn(process.execPath, ["--require", preload, program, task], {
    env: { ...process.env, KILL_AT: String(killAt), KILL_LOG: log },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return new Promise((resolve) => child.on("close", (code, signal) => resolve(signal ?? code)));
}

const schedule = { triggers: [{ type: "cron", cron: "*/30 * * * *" }] };
const expected = ["10:00 skipped", "10:30 skipped", "11:00 started", "11:30 planned"];

test("a scheduler that is killed at any step and restarted leaves one record per firing and one run", {
  timeout: 1_800_000,
}, async () => {
  const whole = await openAutomationHarness("2026-05-01T09:45:00Z");
  const { dataDirectory } = whole.fixture.platform.settings;
  const log = join(dataDirectory, "steps");
  const first = await whole.create(schedule);
  expect(await runChild(whole, 0, log)).toBe(0);
  expect(await recordsOf(whole, first)).toEqual(expected);
  const steps = readFileSync(log, "utf8").trim().split("\n");
  expect(steps.filter((step) => /after commit/i.test(step)).length).toBeGreaterThan(2);
  for (const killAt of pointsOf(steps)) {
    const killed = await openAutomationHarness("2026-05-01T09:45:00Z");
    const automation = await killed.create(schedule);
    await runChild(killed, killAt, join(dataDirectory, "ignored.log"));
    killed.setClock(now);
    const where = `killed at ${steps[killAt - 1]}`;
    // The database may hold the locks of a killed process for a moment: the next look finds what this one skips.
    await expect.poll(() => lookAgain(killed, automation), { message: where }).toEqual(expected);
    expect(await killed.countRuns(), where).toBe(1);
    await killed.close();
  }
});

const recordsOf = async (harness: AutomationHarness, automation: { id: string }) =>
  (await harness.firings(automation)).map(({ plannedAt, status }) => `${plannedAt.slice(11, 16)} ${status}`);

async function lookAgain(harness: AutomationHarness, automation: { id: string }): Promise<string[]> {
  await harness.look();
  return recordsOf(harness, automation);
}

/** All steps in a full sweep; otherwise those around a commit or an insert, and a sample that differs each day. */
function pointsOf(steps: string[]): number[] {
  const all = steps.map((_step, index) => index + 1);
  return sampleOf(all, { every: 24, isNeeded: (point) => /after commit/i.test(steps[point - 1] ?? "") });
}
