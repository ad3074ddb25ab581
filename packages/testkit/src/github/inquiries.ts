// What the fake GitHub answers about changes, jobs, and deliveries of the webhook of its app.
import type { Context } from "openapi-backend";
import { type Operation, pageOf, type RequestReader } from "./request.ts";
import { type FakeRepository, GithubError, type GithubState } from "./state.ts";
import { requireApp } from "./tokens.ts";

export const inquiryOperations = (state: GithubState, reader: RequestReader): Record<string, Operation> => ({
  ...changeOperations(reader),
  ...jobOperations(state, reader),
  ...deliveryOperations(state, reader),
});

const namesIn = async (repository: FakeRepository, range: string): Promise<string[]> =>
  (await repository.git("diff", "--name-only", range)).split("\n").filter(Boolean);

const changeOperations = ({
  shapes,
  repositoryRequest: at,
  pullRequest: onPull,
}: RequestReader): Record<string, Operation> => ({
  "pulls/list-files": async (context) => {
    const { repository, pull } = onPull(context, ["pull_requests", "read"]);
    const names = await namesIn(repository, `${pull.base}...${pull.head}`);
    const files = pageOf(names, context).map((filename) =>
      shapes.listed("pulls/list-files", { filename, previous_filename: undefined }),
    );
    return { status: 200, body: files };
  },
  "repos/compare-commits-with-basehead": async (context) => {
    const { repository } = at(context, ["contents", "read"]);
    const names = await namesIn(repository, String(context.request.params.basehead)).catch(() => null);
    if (names === null) throw new GithubError(404, "Not Found");
    const files = names.map((filename) =>
      shapes.listed("pulls/list-files", { filename, previous_filename: undefined }),
    );
    const comparison = { files, commits: [], total_commits: 1 };
    return { status: 200, body: shapes.with("repos/compare-commits-with-basehead", comparison) };
  },
  "repos/list-commits": async (context) => {
    const { repository } = at(context, ["contents", "read"]);
    const { path, sha = "main" } = context.request.query;
    const args = ["log", "--format=%an", String(sha), "--", ...(path ? [String(path)] : [])];
    const authors = (await repository.git(...args)).split("\n").filter(Boolean);
    const commits = pageOf(authors, context).map((login) =>
      shapes.listed("repos/list-commits", { author: shapes.user(login), committer: shapes.user(login) }),
    );
    return { status: 200, body: commits };
  },
});

const jobOperations = (
  { url }: GithubState,
  { shapes, repositoryRequest: at }: RequestReader,
): Record<string, Operation> => {
  const jobOf = (context: Context, repository: FakeRepository) =>
    repository.jobs.find(({ id }) => id === Number(context.request.params.job_id));
  return {
    "actions/list-jobs-for-workflow-run": async (context) => {
      const { repository } = at(context, ["actions", "read"]);
      const found = repository.jobs.filter(({ run }) => run === Number(context.request.params.run_id));
      const [shape] = (shapes.with("actions/list-jobs-for-workflow-run", {}).jobs ?? []) as object[];
      const jobs = found.map(({ id, name, conclusion }) => ({ ...shape, id, name, conclusion, status: "completed" }));
      return { status: 200, body: { total_count: jobs.length, jobs } };
    },
    "actions/download-job-logs-for-workflow-run": async (context) => {
      const { repository } = at(context, ["actions", "read"]);
      const job = jobOf(context, repository);
      if (job === undefined) throw new GithubError(404, "Not Found");
      return { status: 302, headers: { location: `${url}/job-logs/${repository.id}/${job.id}` } };
    },
    "checks/list-for-suite": async (context) => {
      const { repository } = at(context, ["checks", "read"]);
      const found = repository.jobs.filter(({ run }) => run === Number(context.request.params.check_suite_id));
      const check_runs = found.map(({ id, name, conclusion, app, summary }) => {
        const check = { id, name, conclusion, head_sha: "0".repeat(40), status: "completed", external_id: "" };
        const output = { title: null, summary };
        const shape = shapes.check("checks/create", { ...check, app: "", details_url: "", output });
        return { ...shape, app: { ...(shape.app as object), slug: app } };
      });
      return { status: 200, body: { total_count: check_runs.length, check_runs } };
    },
  };
};

const deliveryOperations = (state: GithubState, { shapes }: RequestReader): Record<string, Operation> => ({
  "apps/list-webhook-deliveries": async (context) => {
    requireApp(state, String(context.request.headers.authorization));
    const { per_page = 30, cursor } = context.request.query;
    const start = cursor === undefined ? 0 : Number(cursor);
    const page = state.deliveries.toReversed().slice(start, start + Number(per_page));
    const next = start + page.length;
    const address = `${state.url}/api/v3/app/hook/deliveries?per_page=${per_page}&cursor=${next}`;
    return {
      status: 200,
      body: page.map(({ payload: _, url: _url, ...delivery }) =>
        shapes.listed("apps/list-webhook-deliveries", { ...delivery, ...described }),
      ),
      ...(next < state.deliveries.length && { headers: { link: `<${address}>; rel="next"` } }),
    };
  },
  "apps/get-webhook-delivery": async (context) => {
    requireApp(state, String(context.request.headers.authorization));
    const found = state.deliveries.find(({ id }) => id === Number(context.request.params.delivery_id));
    if (found === undefined) throw new GithubError(404, "Not Found");
    const { payload, ...delivery } = found;
    const request = { headers: { "X-GitHub-Event": found.event, "X-GitHub-Delivery": found.guid }, payload };
    const more = { ...delivery, ...described, request, response: { headers: null, payload: null } };
    return { status: 200, body: shapes.with("apps/get-webhook-delivery", more) };
  },
});

const described = { action: null, installation_id: null, repository_id: null, throttled_at: null };
