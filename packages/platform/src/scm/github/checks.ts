// Checks on GitHub, one per key and commit: looked for before one is made.
import type { Endpoints } from "@octokit/types";
import type { Check, CheckState, Checks } from "../source-host.ts";
import { GithubRefusal, githubFault } from "./api.ts";
import { type Ask, asking, readPages } from "./ask.ts";
import type { GithubRepository } from "./host.ts";

export function githubChecks(github: GithubRepository): Checks {
  const { owner, repo } = github.repository;
  return {
    async show(check, signal) {
      try {
        await bringUpToDate(asking(github, signal), check);
        return "shown";
      } catch (error) {
        if (isRefused(error)) return "refused";
        throw githubFault(error, { what: `show a check in ${owner}/${repo}`, code: "repository_unreachable" });
      }
    },
  };
}

/** The installation does not let the app make checks, or the commit is gone. */
const isRefused = (error: unknown): boolean =>
  error instanceof GithubRefusal && [403, 404, 422].includes(error.status) && !/rate limit/i.test(error.message);

async function bringUpToDate(ask: Ask, check: Check): Promise<void> {
  const known = await findCheck(ask, check);
  const fields = { details_url: check.url, ...stateFields(check.state) };
  if (known === undefined) {
    const { key, commit, name, startedAt } = check;
    const started_at = startedAt.toISOString();
    await ask("POST /repos/{owner}/{repo}/check-runs", {
      name,
      head_sha: commit,
      external_id: key,
      started_at,
      ...fields,
    } as NewCheck);
    return;
  }
  if (known.status === "completed" || check.state.kind === "running") return;
  await ask("PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}", { check_run_id: known.id, ...fields });
}

type NewCheck = Omit<Endpoints["POST /repos/{owner}/{repo}/check-runs"]["parameters"], "owner" | "repo">;

async function findCheck(ask: Ask, { key, commit, name }: Check) {
  const found = await readPages(async (page) => {
    const where = { ref: commit, check_name: name, filter: "all" as const };
    return (await ask("GET /repos/{owner}/{repo}/commits/{ref}/check-runs", { ...where, ...page })).check_runs;
  });
  return found.find(({ external_id }) => external_id === key);
}

const mostSummaryCharacters = 60_000;

function stateFields(state: CheckState) {
  if (state.kind === "running") return { status: "in_progress" as const };
  const summary = state.summary.slice(0, mostSummaryCharacters);
  return {
    status: "completed" as const,
    conclusion: state.conclusion,
    completed_at: state.endedAt.toISOString(),
    output: { title: state.title, summary },
  };
}
