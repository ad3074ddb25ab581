// What the fake GitHub answers about changes, jobs, and deliveries of webhooks of its app and of repositories.
import type { Context } from "openapi-backend";
import { type Operation, type OperationResult, pageOf, type RequestReader } from "./request.ts";
import { type FakeDelivery, type FakeHook, type FakeRepository, GithubError, type GithubState } from "./state.ts";
import { requireApp } from "./tokens.ts";

export const inquiryOperations = (state: GithubState, reader: RequestReader): Record<string, Operation> => ({
  ...changeOperations(reader),
  ...jobOperations(state, reader),
  ...deliveryOperations(state, reader),
  ...hookOperations(state, reader),
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
      const jobs = found.map(({ id, name, conclusion }) => ({
        ...{ ...shape, id, name, conclusion, status: "completed", created_at: "2026-01-01T00:00:00Z" },
      }));
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
    const path = `${state.url}/api/v3/app/hook/deliveries`;
    return listed(shapes, { context, operation: "apps/list-webhook-deliveries", deliveries: state.deliveries, path });
  },
  "apps/get-webhook-delivery": async (context) => {
    requireApp(state, String(context.request.headers.authorization));
    return oneOf(shapes, { context, operation: "apps/get-webhook-delivery", deliveries: state.deliveries });
  },
});

const hookOperations = (
  { url }: GithubState,
  { shapes, repositoryRequest: at }: RequestReader,
): Record<string, Operation> => {
  const hookOf = (context: Context): { hook: FakeHook; repository: FakeRepository } => {
    const { repository } = at(context, ["repository_hooks", "read"]);
    const hook = repository.hooks.find(({ id }) => id === Number(context.request.params.hook_id));
    if (hook === undefined) throw new GithubError(404, "Not Found");
    return { hook, repository };
  };
  return {
    "repos/list-webhooks": async (context) => {
      const { repository } = at(context, ["repository_hooks", "read"]);
      const hooks = pageOf(repository.hooks, context).map(({ id, url: sentTo, isActive: active }) =>
        shapes.listed("repos/list-webhooks", { id, active, config: { url: sentTo, content_type: "json" } }),
      );
      return { status: 200, body: hooks };
    },
    "repos/list-webhook-deliveries": async (context) => {
      const { hook, repository } = hookOf(context);
      const path = `${url}/api/v3/repos/${repository.owner}/${repository.name}/hooks/${hook.id}/deliveries`;
      const { deliveries } = hook;
      return listed(shapes, { context, operation: "repos/list-webhook-deliveries", deliveries, path });
    },
    "repos/get-webhook-delivery": async (context) => {
      const { deliveries } = hookOf(context).hook;
      return oneOf(shapes, { context, operation: "repos/get-webhook-delivery", deliveries });
    },
  };
};

interface DeliveryRequest {
  context: Context;
  operation: string;
  deliveries: FakeDelivery[];
}

function listed(
  shapes: RequestReader["shapes"],
  { context, operation, deliveries, path }: DeliveryRequest & { path: string },
): OperationResult {
  const { per_page = 30, cursor } = context.request.query;
  const start = cursor === undefined ? 0 : Number(cursor);
  const page = deliveries.toReversed().slice(start, start + Number(per_page));
  const next = start + page.length;
  return {
    status: 200,
    body: page.map(({ payload: _, url: _url, ...delivery }) => shapes.listed(operation, { ...delivery, ...described })),
    ...(next < deliveries.length && {
      headers: { link: `<${path}?per_page=${per_page}&cursor=${next}>; rel="next"` },
    }),
  };
}

function oneOf(shapes: RequestReader["shapes"], { context, operation, deliveries }: DeliveryRequest): OperationResult {
  const found = deliveries.find(({ id }) => id === Number(context.request.params.delivery_id));
  if (found === undefined) throw new GithubError(404, "Not Found");
  const { payload, ...delivery } = found;
  const request = { headers: { "X-GitHub-Event": found.event, "X-GitHub-Delivery": found.guid }, payload };
  const more = { ...delivery, ...described, request, response: { headers: null, payload: null } };
  return { status: 200, body: shapes.with(operation, more) };
}

const described = { action: null, installation_id: null, repository_id: null, throttled_at: null };
