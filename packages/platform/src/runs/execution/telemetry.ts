// What operators see of a run: metrics, and one log line at its start and one at its end. Ids, codes and counts only.
import type { Progress } from "@agentcli/engine";
import { decimalUsd } from "@agentcli/protocol/money";
import type { Metrics, PlatformContext } from "../../foundation/index.ts";
import type { ClaimedRun } from "../leases/lease.ts";
import type { Charges } from "../usage/index.ts";

export interface RunTelemetry {
  /** The first claim of the run, or a later one that resumes it. */
  started(facts: { startedAt: Date; model: string; provider: string }): void;
  progressed(progress: Progress): void;
  charged(charges: Charges): void;
  ended(end: RunTotals): void;
}

export interface RunTotals {
  status: EndStatus;
  /** Of its error. */
  code: string | null;
  durationMs: number;
  /** Null if they could not be read. */
  tokens: { input: number; output: number } | null;
  /** US dollars; null if a price is unknown. */
  costUsd: number | null;
}

const endStatuses = ["FINISHED", "ERROR", "CANCELLED", "EXPIRED"] as const;
type EndStatus = (typeof endStatuses)[number];

/** Of one claim. */
export function openRunTelemetry({ metrics, log }: PlatformContext, claimed: ClaimedRun): RunTelemetry {
  const { runId, agentId, teamId, createdAt } = claimed;
  const ids = { runId, agentId, teamId };
  const all = addRunMetrics(metrics);
  const isFirst = claimed.status === "CREATING";
  let startedMs: number | null = null;
  const observeFirstToken = () => {
    if (startedMs !== null) all.firstToken.observe(secondsSince(startedMs));
    startedMs = null;
  };
  return {
    started({ startedAt, model, provider }) {
      if (!isFirst)
        return log.info("run.resumed", {
          ...ids,
          model,
          provider,
          claimsWithoutProgress: claimed.claimsWithoutProgress,
        });
      startedMs = Date.now();
      const waitedMs = Math.max(0, startedAt.getTime() - createdAt.getTime());
      all.started.add();
      all.claim.observe(waitedMs / 1_000);
      log.info("run.started", { ...ids, model, provider, waitedMs });
    },
    progressed: ({ type }) => tokenTypes.has(type) && observeFirstToken(),
    charged({ usage, costUsd }) {
      // Not every wire reports progress before the whole reply.
      observeFirstToken();
      all.tokens.add({ kind: "input" }, usage.inputTokens);
      all.tokens.add({ kind: "cache_read" }, usage.cachedInputTokens);
      all.tokens.add({ kind: "cache_write" }, usage.cacheWriteInputTokens);
      all.tokens.add({ kind: "output" }, usage.outputTokens);
      all.cost.add({}, costUsd ?? 0);
    },
    ended({ status, code, durationMs, tokens, costUsd }) {
      all.ended.add({ status });
      if (code !== null) all.errors.add({ code });
      all.lasted.observe(durationMs / 1_000, { status });
      const used = { inputTokens: tokens?.input, outputTokens: tokens?.output };
      const cost = costUsd === null ? null : decimalUsd(costUsd);
      log.info("run.ended", { ...ids, status, code, durationMs, ...used, costUsd: cost });
    },
  };
}

/** Progress of the model, not of its commands. */
const tokenTypes = new Set<Progress["type"]>(["text", "reasoning", "calling", "settled"]);

const secondsSince = (beginMs: number): number => Math.max(0, Date.now() - beginMs) / 1_000;

/** From an instant to the two minutes in which a busy server should have room again, and the hours in which it has none. */
const waitBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3_600];
const firstTokenBounds = [0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 13, 20, 30, 60, 120];
/** Runs take seconds or hours. */
const durationBounds = [1, 5, 10, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 28_800];

/** The series of known labels begin at zero, so that the first run of a kind is an increase. */
export function addRunMetrics(metrics: Metrics) {
  const all = {
    started: metrics.counter("platform_runs_started_total", "Runs that this server began"),
    ended: metrics.counter("platform_runs_ended_total", "Runs that this server ended, by status"),
    errors: metrics.counter("platform_run_errors_total", "Runs that ended with an error, by its code"),
    claim: metrics.duration(
      "platform_run_claim_latency_seconds",
      "From the creation of a run to its claim by a server",
      waitBounds,
    ),
    firstToken: metrics.duration(
      "platform_run_first_token_latency_seconds",
      "From the claim of a run to the first token of its model",
      firstTokenBounds,
    ),
    lasted: metrics.duration(
      "platform_run_duration_seconds",
      "From the claim of a run to its end, by status",
      durationBounds,
    ),
    tokens: metrics.counter("platform_run_tokens_total", "Tokens of runs, by kind"),
    cost: metrics.counter("platform_run_cost_usd_total", "Cost of runs in US dollars, of models with a known price"),
  };
  all.started.add({}, 0);
  for (const status of endStatuses) all.ended.add({ status }, 0);
  for (const kind of ["input", "cache_read", "cache_write", "output"]) all.tokens.add({ kind }, 0);
  all.cost.add({}, 0);
  return all;
}
