// Shows on pushed commits how the runs that made them stand. Called again and again, it does what is left to do.
import type { Kysely } from "kysely";
import type { RunStatus, Tables } from "../db/index.ts";
import { RepositoryFault } from "../git/index.ts";
import type { CheckState, SourceHosts } from "../scm/index.ts";
import type { Log } from "../telemetry/index.ts";
import { type CheckChange, type CheckRow, changeCheck, takeDueCheck } from "./check-store.ts";

export interface CheckOptions {
  db: Kysely<Tables>;
  sources: SourceHosts;
  log: Log;
  readReport(runId: string): Promise<RunReport>;
  /** Of the agent, for people. */
  agentUrl(agentId: string): string;
}

/** How a run stands, for whoever looks at its commit. */
export interface RunReport {
  agentId: string;
  teamId: number;
  repositoryUrls: string[];
  status: RunStatus;
  createdAt: Date;
  endedAt: Date | null;
  /** Its result, or what went wrong; secrets are blotted out. */
  text: string;
}

/** Everything that is due now. */
export async function showDueChecks(options: CheckOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await showNextCheck(options, signal)));
}

/** False where nothing is due. */
async function showNextCheck(options: CheckOptions, signal: AbortSignal): Promise<boolean> {
  const { db, log } = options;
  const row = await takeDueCheck(db);
  if (row === undefined) return false;
  try {
    const state = await showCheck(options, row, signal);
    await changeCheck(db, row, { state, attempts: 0, due_at: new Date() });
  } catch (error) {
    if (!(error instanceof RepositoryFault)) throw error;
    log.warn("handoff.check_failed", { runId: row.run_id, code: error.code, attempts: row.attempts + 1 });
    await changeCheck(db, row, afterFault(row));
  }
  return true;
}

async function showCheck(
  { sources, readReport, agentUrl }: CheckOptions,
  row: CheckRow,
  signal: AbortSignal,
): Promise<CheckRow["state"]> {
  const report = await readReport(row.run_id);
  const url = report.repositoryUrls.find((one) => sources.shown(one) === row.repo_url);
  const checks = url === undefined ? null : (await sources.open(report.teamId, url)).checks;
  if (checks === null) return "ended";
  const state = stateOf(report);
  const check = { key: row.run_id, commit: row.commit_name, name: "Agent run", startedAt: report.createdAt, state };
  const shown = await checks.show({ ...check, url: agentUrl(report.agentId) }, signal);
  return shown === "refused" || state.kind === "ended" ? "ended" : "shown";
}

const ends = {
  FINISHED: { conclusion: "success", title: "The run has finished" },
  ERROR: { conclusion: "failure", title: "The run ended with an error" },
  CANCELLED: { conclusion: "cancelled", title: "The run was cancelled" },
  EXPIRED: { conclusion: "neutral", title: "The run took too long" },
} as const;

function stateOf({ status, text, createdAt, endedAt }: RunReport): CheckState {
  if (status === "CREATING" || status === "RUNNING") return { kind: "running" };
  const { conclusion, title } = ends[status];
  return { kind: "ended", conclusion, title, endedAt: endedAt ?? createdAt, summary: text || title };
}

const firstPauseMs = 30_000;
const mostAttempts = 8;

/** Ever later, and at last no more: a check is not worth asking a host for days. */
const afterFault = ({ state, attempts }: CheckRow): CheckChange => ({
  state: attempts + 1 >= mostAttempts ? "ended" : state,
  attempts: attempts + 1,
  due_at: new Date(Date.now() + firstPauseMs * 2 ** attempts),
});

const lookEveryMs = 3_000;

export function startChecks(options: CheckOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let looking: Promise<void> = Promise.resolve();
  let isLooking = false;
  const look = async () => {
    isLooking = true;
    await showDueChecks(options, stopping.signal).catch((error: unknown) => {
      if (!stopping.signal.aborted) options.log.error("handoff.checks_failed", error, {});
    });
    isLooking = false;
  };
  const timer = setInterval(() => {
    if (!isLooking) looking = look();
  }, lookEveryMs);
  return {
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await looking;
    },
  };
}
