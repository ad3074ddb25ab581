// Keeps idle workers in pools: each round starts as many as are missing, and counts those that have not connected yet.
import { randomUUID } from "node:crypto";
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

/** One round. */
export function openWarming(controller: Controller, wanted: number): () => Promise<void> {
  const { options, api } = controller;
  const started = new Map<string, StartedWorker>();
  return async () => {
    const { pools } = (await api.get("/pools", {})) as z.infer<typeof WorkerPoolList>;
    await forgetConnected(controller, started);
    const names = options.pools ?? [...new Set(pools.map(({ poolName }) => poolName))];
    for (const pool of names) {
      const known = pools.find(({ poolName }) => poolName === pool);
      const idle = known ? known.connectedWorkerCount - known.inUseWorkerCount : 0;
      const coming = [...started.values()].filter((one) => one.pool === pool).length;
      for (let count = idle + coming; count < wanted; count += 1) start(controller, started, pool);
    }
  };
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
