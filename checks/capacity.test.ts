// The simulation of many servers has the rules that the code has, and keeps what the code keeps: one server for a run.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { repositoryRoot } from "./tree.ts";

interface Simulation {
  rules: Record<string, number>;
  simulate(costs: object, scenario: object): Record<string, number>;
}

const { rules, simulate } = (await import(
  pathToFileURL(join(repositoryRoot, "bench/capacity-simulation.mjs")).href
)) as Simulation;

/** Of `const NAME = …` or a default, without its separators. */
function numberIn(path: string, pattern: RegExp): number {
  const text = pattern.exec(readFileSync(join(repositoryRoot, "packages/platform/src", path), "utf8"))?.[1];
  return Number(text?.replaceAll("_", ""));
}

test("servers of the simulation look, report and renew as often as those of the code", () => {
  expect({
    lookForRuns: numberIn("runs/execution/runner.ts", /pollIntervalMs = ([\d_]+);/) / 1_000,
    lookForWorkers: numberIn("fleet/open.ts", /pollMs = ([\d_]+);/) / 1_000,
    reportWorkers: numberIn("fleet/online.ts", /seenEveryMs = ([\d_]+);/) / 1_000,
    renewalsPerLease: numberIn("runs/execution/runner.ts", /leaseMs \/ (\d+)\)/),
    actingServers: numberIn("fleet/notices.ts", /actingServers = (\d+);/),
    lease: numberIn("foundation/config/load.ts", /lease_seconds \?\? (\d+)/),
    databaseConnections: numberIn("foundation/config/load.ts", /database_connections \?\? (\d+)/),
    otherConnections: 3 + numberIn("operations/jobs/jobs.ts", /concurrency = (\d+);/),
  }).toEqual({
    lookForRuns: rules.lookForRuns,
    lookForWorkers: rules.lookForWorkers,
    reportWorkers: rules.reportWorkers,
    renewalsPerLease: rules.renewalsPerLease,
    actingServers: rules.actingServers,
    lease: rules.lease,
    databaseConnections: rules.databaseConnections,
    otherConnections: rules.otherConnections,
  });
});

const costs = {
  ...{ statement: 0.0003, idleStatementsPerSecond: 8, reportedWorker: 0.00002, notice: 0.00005, delivery: 0.00001 },
  ...{ serverRun: 0.02, databaseRun: 0.02, statementsOfRun: 60, registration: 0.002 },
};

test("runs of lost servers go on elsewhere within a lease and a look, each with one server at a time", () => {
  const scenario = {
    ...{ servers: 20, workers: 200, runsPerSecond: 5, turnSeconds: 20, shareOnWorkers: 0.5, noticesPerSecond: 1 },
    ...{ slots: 50, databaseCores: 4, seconds: 40, lostServers: 5, loseAt: 15 },
  };
  const result = simulate(costs, scenario);
  expect(result).toMatchObject({ doubles: 0, notTakenOver: 0 });
  expect(result.takeovers).toBeGreaterThan(10);
  expect(result.takeoverLast).toBeLessThanOrEqual((rules.lease ?? 0) + (rules.lookForRuns ?? 0) + 0.1);
  expect(simulate(costs, scenario)).toEqual(result);
});
