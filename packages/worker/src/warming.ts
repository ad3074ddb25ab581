// Keeps idle workers in pools: each round starts as many as are missing, and counts those that have not connected yet.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { WorkerPoolList } from "@agentcli/protocol/api";
import type { z } from "zod";
import type { Controller } from "./controller-types.ts";
import { spawnWorker } from "./spawn.ts";

/** A worker that has not connected after this long is not counted any more. */
const startTimeoutMs = 600_000;

interface StartedWorker {
  pool: string;
  at: number;
}

export interface WarmingTimes {
  /** Between two rounds. */
  roundMs: number;
  /** Between two looks for those that have connected: a worker for a single use may be gone again before the next round. */
  lookMs: number;
}

const defaultTimes: WarmingTimes = { roundMs: 60_000, lookMs: 3_000 };

/** One round, and the time until the next. */
export function openWarming(controller: Controller, wanted: number, times = defaultTimes): () => Promise<void> {
  const { signal } = controller.program;
  const started = new Map<string, StartedWorker>();
  return async () => {
    await forgetConnected(controller, started);
    await startMissing(controller, started, wanted);
    for (let passedMs = 0; passedMs < times.roundMs && !signal.aborted; passedMs += times.lookMs) {
      await sleep(times.lookMs, undefined, { signal }).catch(() => {});
      if (!signal.aborted) await forgetConnected(controller, started);
    }
  };
}

async function startMissing(
  controller: Controller,
  started: Map<string, StartedWorker>,
  wanted: number,
): Promise<void> {
  const { options, api } = controller;
  const { pools } = (await api.get("/pools", {})) as z.infer<typeof WorkerPoolList>;
  const names = options.pools ?? [...new Set(pools.map(({ poolName }) => poolName))];
  for (const pool of names) {
    const known = pools.filter(({ poolName }) => poolName === pool);
    // Workers of this account serve its own pool before one of the team.
    const served = known.find(({ scope }) => scope === "user") ?? known[0];
    const idle = served ? served.connectedWorkerCount - served.inUseWorkerCount : 0;
    const coming = [...started.values()].filter((one) => one.pool === pool).length;
    for (let count = idle + coming; count < wanted; count += 1) start(controller, started, pool);
  }
}

/** Its program may end long before the worker connects, or go on as long as the worker does. */
function start(controller: Controller, started: Map<string, StartedWorker>, pool: string): void {
  const workerId = `worker-${randomUUID()}`;
  started.set(workerId, { pool, at: performance.now() });
  void spawnWorker(controller, { request: null, workerId, pool }).then((failure) => {
    if (failure === null) return;
    started.delete(workerId);
    controller.program.log(`${pool}: ${failure}`);
  });
}

/** Those that are connected are among the idle workers of their pool, or in use. */
async function forgetConnected({ api }: Controller, started: Map<string, StartedWorker>): Promise<void> {
  for (const [workerId, { at }] of started) {
    const isLate = performance.now() - at > startTimeoutMs;
    if (isLate || (await api.exists(`/${workerId}`))) started.delete(workerId);
  }
}
