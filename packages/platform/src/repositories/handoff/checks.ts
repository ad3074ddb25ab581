// Publishes the status of runs as checks on the commits they pushed. Polls for checks that are due.
import type { Kysely } from "kysely";
import type { Log, RunStatus, Tables } from "../../foundation/index.ts";
import { RepositoryFault } from "../git/index.ts";
import type { CheckState, SourceHosts } from "../scm/index.ts";
import { type CheckChange, type CheckRow, changeCheck, claimDueCheck } from "./check-store.ts";

export interface CheckOptions {
  db: Kysely<Tables>;
  sources: SourceHosts;
  log: Log;
  readReport(runId: string): Promise<RunReport>;
  /** The agent's page for users. */
  agentUrl(agentId: string): string;
}

/** The status of a run, as shown on its commit. */
export interface RunReport {
  agentId: string;
  teamId: number;
  repositoryUrls: string[];
  status: RunStatus;
  createdAt: Date;
  endedAt: Date | null;
  /** The result or the error of the run, with secrets redacted. */
  text: string;
}

/** Publishes all checks that are due now. */
export async function showDueChecks(options: CheckOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await showNextCheck(options, signal)));
}

/** Returns false if nothing is due. */
async function showNextCheck(options: CheckOptions, signal: AbortSignal): Promise<boolean> {
  const { db, log } = options;
  const row = await claimDueCheck(db);
  if (row === undefined) return false;
  try {
    const state = await showCheck(options, row, signal);
    await changeCheck(db, row, { state, attempts: 0, due_at: new Date() });
  } catch (error) {
    if (!(error instanceof RepositoryFault)) throw error;
    log.warn("handoff.check_failed", { runId: row.run_id, code: error.code, attempts: row.attempts + 1 });
    await changeCheck(db, row, retryLater(row));
  }
  return true;
}

async function showCheck(
  { sources, readReport, agentUrl }: CheckOptions,
  row: CheckRow,
  signal: AbortSignal,
): Promise<CheckRow["state"]> {
  const report = await readReport(row.run_id);
  const url = report.repositoryUrls.find((candidate) => sources.shown(candidate) === row.repo_url);
  const checks = url === undefined ? null : (await sources.open(report.teamId, url)).checks;
  if (checks === null) return "ended";
  const state = stateOf(report);
  const check = { key: row.run_id, commit: row.commit_name, name: "Agent run", startedAt: report.createdAt, state };
  const shown = await checks.show({ ...check, url: agentUrl(report.agentId) }, signal);
  return shown === "refused" || state.kind === "ended" ? "ended" : "shown";
}

const outcomes = {
  FINISHED: { conclusion: "success", title: "The run has finished" },
  ERROR: { conclusion: "failure", title: "The run has failed" },
  CANCELLED: { conclusion: "cancelled", title: "The run was cancelled" },
  EXPIRED: { conclusion: "neutral", title: "The run has expired: it reached a limit of time" },
} as const;

function stateOf({ status, text, createdAt, endedAt }: RunReport): CheckState {
  if (status === "CREATING" || status === "RUNNING") return { kind: "running" };
  const { conclusion, title } = outcomes[status];
  return { kind: "ended", conclusion, title, endedAt: endedAt ?? createdAt, summary: text || title };
}

const firstRetryDelayMs = 30_000;
const maxAttempts = 8;

/** Exponential backoff. Gives up after the last attempt: a check is not worth days of retries. */
const retryLater = ({ state, attempts }: CheckRow): CheckChange => ({
  state: attempts + 1 >= maxAttempts ? "ended" : state,
  attempts: attempts + 1,
  due_at: new Date(Date.now() + firstRetryDelayMs * 2 ** attempts),
});

const pollIntervalMs = 3_000;

export function startChecks(options: CheckOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let pending: Promise<void> = Promise.resolve();
  let isRunning = false;
  const runOnce = async () => {
    isRunning = true;
    await showDueChecks(options, stopping.signal).catch((error: unknown) => {
      if (!stopping.signal.aborted) options.log.error("handoff.checks_failed", error, {});
    });
    isRunning = false;
  };
  const timer = setInterval(() => {
    if (!isRunning) pending = runOnce();
  }, pollIntervalMs);
  return {
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await pending;
    },
  };
}
