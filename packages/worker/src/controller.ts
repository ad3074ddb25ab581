// `agent worker controller`: claims the requests that wait for a worker of its pools, and starts a program for each.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError, type Invocation } from "@agentcli/command-line";
import type { PendingList, PendingRequest } from "@agentcli/protocol/api";
import type { z } from "zod";
import type { WorkerFlag } from "./commands.ts";
import { type ControllerApi, openControllerApi } from "./controller-api.ts";
import type { Controller, ControllerOptions } from "./controller-types.ts";
import { checkedUrl, keyReader } from "./options.ts";
import type { RunProgram } from "./program.ts";
import { type SpawnRequest, spawnWorker } from "./spawn.ts";
import { openWarming } from "./warming.ts";

/** Throws CommandError. */
function readOptions(invocation: Invocation<WorkerFlag>, { environment }: RunProgram): ControllerOptions {
  const { text, list, has } = invocation;
  const usage = (message: string) => new CommandError("usage", message);
  const spawn = text("spawn");
  const pools = list("pool");
  if (spawn === undefined) throw usage("No program to start workers with. Add --spawn PATH.");
  if (pools.length > 0 === has("all-pools")) throw usage("Name pools with --pool NAME, or take all with --all-pools.");
  const warm = text("warm-idle");
  if (warm !== undefined && !/^\d{1,4}$/.test(warm))
    throw usage(`Invalid --warm-idle "${warm}": expected a number of workers.`);
  if (warm !== undefined && has("session-token"))
    throw usage("Warm workers have no claim, so no token. Leave --warm-idle or --session-token out.");
  return {
    spawn,
    pools: has("all-pools") ? null : pools,
    warmIdle: warm === undefined ? null : Number(warm),
    hasSessionTokens: has("session-token"),
    repository: text("repository"),
    url: checkedUrl(text("endpoint") ?? environment.variables.PLATFORM_BACKEND_URL),
    readKey: keyReader(invocation, environment),
  };
}

const firstPauseMs = 500;
const maxPauseMs = 30_000;

/** Returns when it is stopped. Programs that it started go on. */
export async function runController(invocation: Invocation<WorkerFlag>, program: RunProgram): Promise<void> {
  const options = readOptions(invocation, program);
  const { signal, log } = program;
  const controller = { options, program, api: openControllerApi(options, signal) };
  const work = options.warmIdle === null ? openClaiming(controller) : openWarming(controller, options.warmIdle);
  log(`Watching ${options.pools?.join(", ") ?? "all pools"} of ${options.url}.`);
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      await work();
      failures = -1;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof CommandError) throw error;
      log(`${options.url}: ${(error as Error).message}`);
      const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** Math.min(failures, 10)) * (0.5 + Math.random() / 2);
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }
}

/** One round: the list, then the stream from there until its cursor expires. */
function openClaiming(controller: Controller): () => Promise<void> {
  const { options, api, program } = controller;
  const started = new Set<string>();
  const start = (request: PendingRequest): void => {
    const pool = poolOf(request);
    if (options.pools !== null && !options.pools.includes(pool)) return;
    // A request comes again after a release, not within one round of the same state.
    const key = `${request.id} ${request.createdAtMs} ${request.claimedWorkerId ?? ""}`;
    if (started.has(key)) return;
    started.add(key);
    void claimAndSpawn(controller, request)
      .catch((error: Error) => program.log(`${request.id}: ${error.message}`))
      .finally(() => void started.delete(key));
  };
  return async () => {
    const filter: Record<string, string> = options.repository === undefined ? {} : { repository: options.repository };
    const { requests, streamCursor } = await listAll(api, filter);
    for (const request of requests) start(request);
    await api.watch({ ...filter, cursor: streamCursor }, (event, data) => {
      if (event === "created" || event === "claimed_offline") start(data as PendingRequest);
    });
  };
}

async function listAll(api: ControllerApi, filter: object): Promise<z.infer<typeof PendingList>> {
  const all: PendingRequest[] = [];
  for (let pageToken: string | undefined; ; ) {
    const query = { ...filter, limit: "100", ...(pageToken !== undefined && { pageToken }) };
    const page = (await api.get("/pending-requests", query)) as z.infer<typeof PendingList>;
    all.push(...page.requests);
    if (page.nextPageToken === undefined) return { ...page, requests: all };
    pageToken = page.nextPageToken;
  }
}

const poolOf = ({ labels }: PendingRequest): string => labels.find(({ key }) => key === "pool")?.value ?? "";

/** A worker that sleeps is started under its id; otherwise under a new one. */
async function claimAndSpawn(controller: Controller, request: PendingRequest): Promise<void> {
  const { options, api, program } = controller;
  const workerId = request.claimedWorkerId ?? `worker-${randomUUID()}`;
  const claim = { id: request.id, workerId };
  const isAsleep = request.claimedWorkerId !== undefined;
  const answer = isAsleep
    ? options.hasSessionTokens
      ? await api.post("/tokens", claim)
      : claim
    : await api.post("/claim", { ...claim, ...(options.hasSessionTokens && { sessionToken: true }) });
  // Another controller was faster.
  if (answer === null) return;
  const { token, expiresAt } = answer as { token?: string; expiresAt?: string };
  program.log(`${request.id}: claimed for ${workerId}.`);
  const spawned: SpawnRequest = { request, workerId, pool: poolOf(request), token, expiresAt };
  const failure = await spawnWorker(controller, spawned);
  if (failure === null) return;
  program.log(`${request.id}: ${failure}`);
  await api.post(`/claims/${request.id}/fail`, { message: failure.slice(0, 500) });
}
