// Checks on GitHub, one per key and commit: searches for an existing one before creating one.
import type { Endpoints } from "@octokit/types";
import type { Check, CheckState, Checks } from "../source-host.ts";
import { GithubRefusal, githubFault } from "./api.ts";
import { readPages } from "./pages.ts";
import type { GithubRepository } from "./repository.ts";
import { type RepositoryRequest, requestAsPlatform } from "./requests.ts";

export function githubChecks(github: GithubRepository): Checks {
  const { owner, repo } = github.repository;
  return {
    async show(check, signal) {
      try {
        await createOrUpdate(requestAsPlatform(github, signal), check);
        return "shown";
      } catch (error) {
        if (isRefused(error)) return "refused";
        throw githubFault(error, { what: `show a check in ${owner}/${repo}`, code: "repository_unreachable" });
      }
    },
  };
}

/** The installation does not allow the app to create checks, or the commit does not exist any more. */
const isRefused = (error: unknown): boolean =>
  error instanceof GithubRefusal && [403, 404, 422].includes(error.status) && !/rate limit/i.test(error.message);

async function createOrUpdate(request: RepositoryRequest, check: Check): Promise<void> {
  const existing = await findCheck(request, check);
  const fields = { details_url: check.url, ...stateFields(check.state) };
  if (existing === undefined) {
    const { key, commit, name, startedAt } = check;
    const started_at = startedAt.toISOString();
    await request("POST /repos/{owner}/{repo}/check-runs", {
      name,
      head_sha: commit,
      external_id: key,
      started_at,
      ...fields,
    } as NewCheck);
    return;
  }
  if (existing.status === "completed" || check.state.kind === "running") return;
  await request("PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}", { check_run_id: existing.id, ...fields });
}

type NewCheck = Omit<Endpoints["POST /repos/{owner}/{repo}/check-runs"]["parameters"], "owner" | "repo">;

async function findCheck(request: RepositoryRequest, { key, commit, name }: Check) {
  const checkRuns = await readPages(async (page) => {
    const query = { ref: commit, check_name: name, filter: "all" as const };
    return (await request("GET /repos/{owner}/{repo}/commits/{ref}/check-runs", { ...query, ...page })).check_runs;
  });
  return checkRuns.find(({ external_id }) => external_id === key);
}

const maxSummaryCharacters = 60_000;

function stateFields(state: CheckState) {
  if (state.kind === "running") return { status: "in_progress" as const };
  const summary = state.summary.slice(0, maxSummaryCharacters);
  return {
    status: "completed" as const,
    conclusion: state.conclusion,
    completed_at: state.endedAt.toISOString(),
    output: { title: state.title, summary },
  };
}
