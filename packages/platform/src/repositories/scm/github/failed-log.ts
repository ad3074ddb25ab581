// The end of the logs of failed checks on GitHub: of the jobs of a workflow, or what another app wrote about its check.
import type { FailedCheck } from "../source-host.ts";
import type { GithubRepository } from "./repository.ts";
import type { RepositoryRequest } from "./requests.ts";

const maxJobs = 3;
const maxCharacters = 8_000;

export interface LogContext {
  github: GithubRepository;
  request: RepositoryRequest;
}

export async function readFailedLog(
  context: LogContext,
  failed: FailedCheck,
  signal: AbortSignal,
): Promise<string | null> {
  const found = "workflowRun" in failed ? await jobsOf(context, failed.workflowRun) : await runsOf(context, failed);
  const parts: string[] = [];
  for (const { name, jobId, text } of found.slice(0, maxJobs)) {
    const log = jobId === null ? text : await readJobLog(context, jobId, signal);
    if (log.trim() !== "") parts.push(`== ${name}\n${log.slice(-Math.floor(maxCharacters / maxJobs))}`);
  }
  return parts.length === 0 ? null : parts.join("\n");
}

interface FailedJob {
  name: string;
  /** Null: another app ran it, which says `text` about it. */
  jobId: number | null;
  text: string;
}

const isFailed = ({ conclusion }: { conclusion: string | null }): boolean =>
  conclusion === "failure" || conclusion === "timed_out";

async function jobsOf({ request }: LogContext, run_id: number): Promise<FailedJob[]> {
  const query = { run_id, filter: "latest" as const, per_page: 100 };
  const { jobs } = await request("GET /repos/{owner}/{repo}/actions/runs/{run_id}/jobs", query);
  return jobs.filter(isFailed).map(({ id, name }) => ({ name, jobId: Number(id), text: "" }));
}

async function runsOf({ request }: LogContext, { checkSuite }: { checkSuite: number }): Promise<FailedJob[]> {
  const route = "GET /repos/{owner}/{repo}/check-suites/{check_suite_id}/check-runs" as const;
  const { check_runs } = await request(route, { check_suite_id: checkSuite, per_page: 100 });
  return check_runs.filter(isFailed).map(({ id, name, app, output }) => ({
    name,
    // Jobs of GitHub Actions have the ids of their checks.
    jobId: app?.slug === "github-actions" ? Number(id) : null,
    text: [output.title, output.summary, output.text].filter(Boolean).join("\n"),
  }));
}

/** Its end alone is kept: a log may have hundreds of megabytes. */
async function readJobLog(
  { github: { api, credentials, repository } }: LogContext,
  jobId: number,
  signal: AbortSignal,
): Promise<string> {
  const token = await credentials.token(repository, signal);
  const path = `/repos/${repository.owner}/${repository.repo}/actions/jobs/${jobId}/logs`;
  return withoutControls(await api.readEnd({ path, token, maxCharacters }, signal));
}

/** Without the times that lines begin with, and without colours. */
const withoutControls = (text: string): string =>
  text.replace(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z /gm, "").replace(/\u001b\[[\d;]*[A-Za-z]/g, "");
