// Reads the state of the platform from the database, the disk and the settings, and judges it.
import { statfs } from "node:fs/promises";
import type { PlatformStatus } from "@agentcli/protocol/api";
import { sql } from "kysely";
import { listNodes, type PlatformContext, version } from "../foundation/index.ts";
import { chooseModel, isPractice, readQueue } from "../runs/index.ts";

export async function readStatus({ db, settings, nodeId }: PlatformContext): Promise<PlatformStatus> {
  const [database, nodes, queue, webhooks, storage] = [
    await readDatabase(db),
    await readNodes(db),
    await readQueue(db),
    await readWebhooks(db),
    await readStorage(settings.dataDirectory),
  ];
  const { id, provider } = chooseModel(undefined, settings);
  const facts = {
    nodes,
    runs: { ...queue, concurrentRuns: settings.concurrentRuns },
    storage,
    model: { id, provider, practice: isPractice(settings) },
  };
  const problems = findProblems(facts);
  return {
    status: problems.length === 0 ? "ok" : "degraded",
    problems,
    version,
    nodeId,
    roles: settings.roles,
    ...facts,
    database,
    webhooks,
  };
}

export async function readStorage(dataDirectory: string): Promise<PlatformStatus["storage"]> {
  const { bavail, blocks, bsize } = await statfs(dataDirectory);
  return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
}

async function readDatabase(db: PlatformContext["db"]): Promise<PlatformStatus["database"]> {
  const beginMs = performance.now();
  const { rows } = await sql<{ version: string }>`select current_setting('server_version') as version`.execute(db);
  return { version: rows[0]?.version ?? "", latencyMs: Math.round(performance.now() - beginMs) };
}

const forgottenAfterMs = 24 * 3_600_000;

async function readNodes(db: PlatformContext["db"]): Promise<PlatformStatus["nodes"]> {
  const nodes = await listNodes(db);
  return nodes
    .filter(({ isRunning, heartbeatAt }) => isRunning || Date.now() - heartbeatAt.getTime() < forgottenAfterMs)
    .map(({ id, roles, version: theirs, isRunning, startedAt, heartbeatAt }) => ({
      id,
      roles,
      ...(theirs !== null && { version: theirs }),
      state: isRunning ? "running" : "gone",
      startedAt: startedAt.toISOString(),
      heartbeatAt: heartbeatAt.toISOString(),
    }));
}

async function readWebhooks(db: PlatformContext["db"]): Promise<PlatformStatus["webhooks"]> {
  const { waiting } = await db
    .selectFrom("webhook_deliveries")
    .select(({ fn }) => fn.countAll<number>().as("waiting"))
    .where("status", "=", "waiting")
    .executeTakeFirstOrThrow();
  return { waiting: Number(waiting) };
}

const longWaitSeconds = 300;
const lowStorage = 0.05;

function findProblems({ nodes, runs, storage }: Pick<PlatformStatus, "nodes" | "runs" | "storage">): string[] {
  const serves = (role: "runner" | "scheduler") =>
    nodes.some((node) => node.state === "running" && node.roles.includes(role));
  return [
    ...(serves("runner") ? [] : ["No server with the role runner is running: runs wait."]),
    ...(serves("scheduler") ? [] : ["No server with the role scheduler is running: webhooks and automations wait."]),
    ...(runs.oldestQueuedSeconds > longWaitSeconds
      ? [`A run has waited ${Math.round(runs.oldestQueuedSeconds)} seconds for a server.`]
      : []),
    ...(storage.freeBytes < storage.sizeBytes * lowStorage
      ? ["Less than a twentieth of the disk of the data directory is free."]
      : []),
  ];
}
